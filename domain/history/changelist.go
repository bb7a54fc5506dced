package history

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gatehouse/domain"
)

// FileChanges returns a page of what a session and its subagents changed, merged by
// path over the whole session, in order of first appearance. Texts are limited per
// page, as in a history (HI-24).
func (s *Service) FileChanges(ctx context.Context, sessionID string, r domain.PageRequest, mode DiffsMode) (domain.Page[MergedChange], error) {
	var p domain.Problems
	mode.check(&p)
	if err := p.Err(); err != nil {
		return domain.Page[MergedChange]{}, err
	}
	size, err := r.Size()
	if err != nil {
		return domain.Page[MergedChange]{}, err
	}
	list := changeList{kind: "file-changes/" + sessionID, size: size, mode: mode}
	if list.skip, err = list.parse(r.Cursor); err != nil {
		return domain.Page[MergedChange]{}, err
	}
	var page domain.Page[MergedChange]
	err = s.store.InRead(ctx, func(ctx context.Context, tx ReadTx) error {
		of, err := tx.Session(ctx, sessionID)
		if err != nil {
			return err
		}
		work, err := tx.Work(ctx, sessionID, 1, math.MaxInt64, -1)
		if err != nil {
			return err
		}
		page, err = list.page(ctx, tx, inSequence(attribute(of, work)))
		return err
	})
	if err != nil {
		return domain.Page[MergedChange]{}, fmt.Errorf("read file changes of session %s: %w", sessionID, err)
	}
	return page, nil
}

// inSequence joins the lists of messages in the order of their seqs.
func inSequence(lists map[int64][]SourcedChange) []SourcedChange {
	seqs := make([]int64, 0, len(lists))
	for seq := range lists {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	var all []SourcedChange
	for _, seq := range seqs {
		all = append(all, lists[seq]...)
	}
	return all
}

// changeList is one page of merged changes. Its place is the number of files before
// it: files keep their order of first appearance while a session goes on.
type changeList struct {
	kind string
	skip int
	size int
	mode DiffsMode
}

func (l changeList) parse(cursor string) (skip int, err error) {
	if cursor == "" {
		return 0, nil
	}
	parts, err := domain.DecodeCursor(l.kind, cursor)
	if err != nil {
		return 0, err
	}
	if len(parts) != 1 {
		return 0, domain.InvalidCursor()
	}
	if skip, err = strconv.Atoi(parts[0]); err != nil || skip < 0 {
		return 0, domain.InvalidCursor()
	}
	return skip, nil
}

// page merges the files of the page. Only their texts are read.
func (l changeList) page(ctx context.Context, tx ReadTx, changes []SourcedChange) (domain.Page[MergedChange], error) {
	groups := groupByPath(changes)
	groups = groups[min(l.skip, len(groups)):]
	more := len(groups) > l.size
	groups = groups[:min(l.size, len(groups))]
	var shown []*SourcedChange
	for _, g := range groups {
		for _, op := range g.operations {
			shown = append(shown, op.change)
		}
	}
	if err := fillTexts(ctx, tx, l.mode, shown); err != nil {
		return domain.Page[MergedChange]{}, err
	}
	page := domain.Page[MergedChange]{Items: make([]MergedChange, len(groups))}
	for i, g := range groups {
		page.Items[i] = g.merge()
	}
	if more {
		page.NextCursor = new(domain.EncodeCursor(l.kind, strconv.Itoa(l.skip+l.size)))
	}
	return page, nil
}
