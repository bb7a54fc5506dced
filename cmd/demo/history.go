package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oapi-codegen/nullable"

	"gatehouse/gen/client"
)

// What the imported session holds (testdata/transcripts): the main agent changed no
// file, its six subagents made fourteen changes.
const (
	wantSubagents = 6
	wantChanges   = 14
)

// showHistory reads the imported session and shows, on each message that delegated,
// what its subagent changed.
func (d *demo) showHistory(ctx context.Context) error {
	d.print.step("The history of the imported session")
	sessionID, err := d.importedSession(ctx)
	if err != nil {
		return err
	}
	messages, err := d.messages(ctx, sessionID)
	if err != nil {
		return err
	}
	var changes, own int
	subagents := map[string]bool{}
	for _, m := range messages {
		if len(m.FileChanges) == 0 {
			continue
		}
		d.print.say("%s", d.print.style("1", fmt.Sprintf("message %d called %s", m.Seq, agents(m))))
		for _, c := range m.FileChanges {
			changes++
			if c.SourceType == client.SourceTypeMAIN {
				own++
			} else {
				subagents[c.SourceSessionID] = true
			}
			added, _ := c.LinesAdded.Get()
			deleted, _ := c.LinesDeleted.Get()
			d.print.say("  %s  %-8s %s", d.print.counts(added, deleted), c.ChangeType, c.PathKey)
		}
	}
	d.print.say("%d messages; the main agent changed %d files itself, its %d subagents made %d changes", len(messages), own, len(subagents), changes)
	if own != 0 || len(subagents) != wantSubagents || changes != wantChanges {
		return fmt.Errorf("want no change of its own and %d of %d subagents", wantChanges, wantSubagents)
	}
	return nil
}

// messages is the whole history of a session, page by page from its end.
func (d *demo) messages(ctx context.Context, sessionID string) (all []client.HistoryMessage, err error) {
	params := &client.ListMessagesParams{Limit: new(200), Diffs: new(client.DiffsModeNone)}
	for {
		page, err := d.ListMessagesWithResponse(ctx, sessionID, params)
		if err := check(err, page, 200); err != nil {
			return nil, err
		}
		all = append(page.JSON200.Messages, all...)
		before, err := page.JSON200.NextBefore.Get()
		if err != nil {
			return all, nil //nolint:nilerr // null: this was the first page
		}
		params.Before = &before
	}
}

// agents says how many subagents of which types a message called.
func agents(m client.HistoryMessage) string {
	seen, types := map[string]bool{}, map[string]int{}
	for _, c := range m.FileChanges {
		if !seen[c.SourceSessionID] {
			seen[c.SourceSessionID] = true
			types[orElse(c.SourceAgentType, "unnamed")]++
		}
	}
	var named []string
	for _, name := range slices.Sorted(maps.Keys(types)) {
		named = append(named, fmt.Sprintf("%d × %s", types[name], name))
	}
	return strings.Join(named, ", ")
}

// orElse is the value of n, or other where it is null.
func orElse(n nullable.Nullable[string], other string) string {
	if v, err := n.Get(); err == nil {
		return v
	}
	return other
}

// importedSession is the main session of the task that the import made: the only
// task besides the one of this demo.
func (d *demo) importedSession(ctx context.Context) (string, error) {
	tasks, err := d.ListTasksWithResponse(ctx, nil)
	if err := check(err, tasks, 200); err != nil {
		return "", err
	}
	for _, t := range tasks.JSON200.Items {
		if id, err := t.PrimarySessionID.Get(); err == nil && t.ID != d.taskID {
			d.print.say("%q", t.Title)
			return id, nil
		}
	}
	return "", errors.New("the import made no task")
}
