package prompt

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// EntryEdit asks for another text of an entry.
type EntryEdit struct {
	TaskID          string
	SessionID       string
	EntryID         string
	Content         string // at most 1 MiB; blank only when the entry has attachments
	ExpectedVersion int64  // of the entry that was seen
}

// validate judges what e alone tells.
func (e EntryEdit) validate() error {
	var p domain.Problems
	checkContent(&p, e.Content, false)
	if err := p.Err(); err != nil {
		return err
	}
	return checkSize(e.Content)
}

// EditEntry replaces the whole text of a pending queued entry, rendered comments
// included, and answers the queue as it is then (DL-5). The comments it consumed do
// not come back, and its exact replay still answers (AD-7).
//
// Errors: [domain.ValidationError], [TooLargeError], [task.ErrNotFound],
// [task.ErrArchived], [session.ErrNotFound], [ErrEntryNotFound], [ErrEntryReserved],
// [ErrEntryNotEditable], [QueueChangedError] for another version.
func (s *Service) EditEntry(ctx context.Context, e EntryEdit) (Queue, error) {
	if err := e.validate(); err != nil {
		return Queue{}, err
	}
	after, err := s.changeQueue(ctx, e.TaskID, e.SessionID, func(ctx context.Context, tx Tx, _ *session.Session, q *Queue) (bool, error) {
		entry, err := q.entry(ctx, tx, e.TaskID, e.EntryID)
		if err != nil {
			return false, err
		}
		if entry.Version != e.ExpectedVersion {
			return false, &QueueChangedError{*q}
		}
		var p domain.Problems
		checkContent(&p, e.Content, len(entry.Attachments) == 0)
		if err := p.Err(); err != nil {
			return false, err
		}
		entry.rewrite(e.Content, s.now())
		return true, tx.RewriteEntry(ctx, *entry)
	})
	if err != nil {
		return Queue{}, fmt.Errorf("edit queue entry %s: %w", e.EntryID, err)
	}
	return after, nil
}
