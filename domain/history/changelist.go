package history

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
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
	if list.after, err = list.parse(r.Cursor); err != nil {
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

// sequence is the changes of a session in order, each with the seq of the message of
// the session that shows it.
type sequence struct {
	changes []SourcedChange
	seqs    []int64
}

// inSequence joins the lists of messages in the order of their seqs.
func inSequence(lists map[int64][]SourcedChange) sequence {
	var s sequence
	for _, seq := range slices.Sorted(maps.Keys(lists)) {
		s.changes = append(s.changes, lists[seq]...)
		s.seqs = append(s.seqs, slices.Repeat([]int64{seq}, len(lists[seq]))...)
	}
	return s
}

// listPlace is a place in the merged list of a session: the change that began the last
// file before it, with the message that shows it. What comes and goes elsewhere does
// not move it: runs end and files are joined while a reader goes on.
type listPlace struct {
	seq      int64
	changeID string
}

// in returns the index in s of the change of p. Of one that is gone, as its message was
// rolled back with all that followed it, it is that of the last before it, or -1.
func (p listPlace) in(s sequence) int {
	at := slices.IndexFunc(s.changes, func(c SourcedChange) bool { return c.ID == p.changeID })
	if at < 0 {
		at = sort.Search(len(s.seqs), func(i int) bool { return s.seqs[i] > p.seq }) - 1
	}
	return at
}

// changeList is one page of merged changes.
type changeList struct {
	kind  string
	after listPlace // the zero place is the start
	size  int
	mode  DiffsMode
}

func (l changeList) parse(cursor string) (after listPlace, err error) {
	if cursor == "" {
		return listPlace{}, nil
	}
	parts, err := domain.DecodeCursor(l.kind, cursor)
	if err != nil {
		return listPlace{}, err
	}
	if len(parts) != 2 {
		return listPlace{}, domain.InvalidCursor()
	}
	seq, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return listPlace{}, domain.InvalidCursor()
	}
	return listPlace{seq, parts[1]}, nil
}

// page merges the files of the page. Only the texts that they need are read.
func (l changeList) page(ctx context.Context, tx ReadTx, s sequence) (domain.Page[MergedChange], error) {
	groups := groupByPath(s.changes)
	place := l.after.in(s)
	groups = groups[sort.Search(len(groups), func(i int) bool { return groups[i].opened > place }):]
	more := len(groups) > l.size
	groups = groups[:min(l.size, len(groups))]
	var shown []*SourcedChange
	for _, g := range groups {
		shown = append(shown, g.texts()...)
	}
	if err := fillTexts(ctx, tx, l.mode, shown); err != nil {
		return domain.Page[MergedChange]{}, err
	}
	page := domain.Page[MergedChange]{Items: make([]MergedChange, len(groups))}
	for i, g := range groups {
		page.Items[i] = g.merge()
	}
	if more {
		last := groups[len(groups)-1].opened
		page.NextCursor = new(domain.EncodeCursor(l.kind, strconv.FormatInt(s.seqs[last], 10), s.changes[last].ID))
	}
	return page, nil
}
