package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/oapi-codegen/nullable"

	"gatehouse/gen/client"
)

// What the imported session holds (testdata/transcripts): the main agent changed no
// file, its six subagents made fourteen changes in three files.
const (
	wantSubagents = 6
	wantChanges   = 14
	wantFiles     = 3
)

// showHistory reads the imported session and shows, on each message that delegated,
// what its subagents changed, and the same merged by path.
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
	tasks, err := d.delegated(ctx, sessionID, messages)
	if err != nil {
		return err
	}
	var changes, own int
	subagents := map[string]bool{}
	for _, m := range messages {
		if len(m.FileChanges) > 0 {
			d.showMessage(m, tasks)
		}
		for _, c := range m.FileChanges {
			changes++
			if c.SourceType == client.SourceTypeMAIN {
				own++
			} else {
				subagents[c.SourceSessionID] = true
			}
		}
	}
	d.print.say("In %d messages the main agent changed %d files itself; its %d subagents made %d changes.",
		len(messages), own, len(subagents), changes)
	if own != 0 || len(subagents) != wantSubagents || changes != wantChanges {
		return fmt.Errorf("want no change of its own, and %d changes of %d subagents", wantChanges, wantSubagents)
	}
	return d.showMerged(ctx, sessionID)
}

// showMessage shows the changes that stand on a message, under the task of the
// subagent that made them.
func (d *demo) showMessage(m client.HistoryMessage, tasks map[string]string) {
	d.print.say("%s", d.print.style(bold, fmt.Sprintf("message %d delegated", m.Seq)))
	var before string
	for _, c := range m.FileChanges {
		if run := orElse(c.SourceExecutionID, ""); run != before {
			d.print.say("  %s", tasks[run])
			before = run
		}
		d.print.change(c.LinesAdded, c.LinesDeleted, c.ChangeType, c.PathKey)
	}
}

// showMerged shows the changes of the whole session, one line for each file.
func (d *demo) showMerged(ctx context.Context, sessionID string) error {
	list, err := d.ListFileChangesWithResponse(ctx, sessionID, &client.ListFileChangesParams{Diffs: new(client.DiffsModeNone)})
	if err := check(err, list, 200); err != nil {
		return err
	}
	d.print.say("%s", d.print.style(bold, fmt.Sprintf("merged by path: %d files", len(list.JSON200.Items))))
	for _, c := range list.JSON200.Items {
		d.print.change(c.LinesAdded, c.LinesDeleted, c.ChangeType, c.PathKey)
	}
	if len(list.JSON200.Items) != wantFiles {
		return fmt.Errorf("want %d files", wantFiles)
	}
	return nil
}

// delegated says what each run of a subagent was called to do, by the id of the run.
func (d *demo) delegated(ctx context.Context, sessionID string, messages []client.HistoryMessage) (map[string]string, error) {
	calls := map[string]client.ToolCall{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			calls[c.ID] = c
		}
	}
	runs, err := d.ListExecutionsWithResponse(ctx, sessionID, nil)
	if err := check(err, runs, 200); err != nil {
		return nil, err
	}
	tasks := map[string]string{}
	for _, run := range runs.JSON200.Items {
		tasks[run.ID] = orElse(run.AgentType, run.Tool)
		if call := calls[orElse(run.ParentToolCallID, "")]; call.Summary != nil {
			tasks[run.ID] += ": " + *call.Summary
		}
	}
	return tasks, nil
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
