package prompt

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
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
func (s *Service) EditEntry(ctx context.Context, e EntryEdit) (after Queue, err error) {
	if err := e.validate(); err != nil {
		return Queue{}, err
	}
	err = s.mutate(ctx, e.TaskID, func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error) {
		ses, q, err := s.lockQueue(ctx, tx, t, e.SessionID)
		if err != nil {
			return nil, err
		}
		entry, err := q.entry(ctx, tx, t.ID, e.EntryID)
		if err != nil {
			return nil, err
		}
		if entry.Version != e.ExpectedVersion {
			return nil, &QueueChangedError{q}
		}
		var p domain.Problems
		checkContent(&p, e.Content, len(entry.Attachments) == 0)
		if err := p.Err(); err != nil {
			return nil, err
		}
		entry.rewrite(e.Content, s.now())
		if err := tx.RewriteEntry(ctx, *entry); err != nil {
			return nil, err
		}
		after = q
		return s.saveQueue(ctx, tx, t, ses, &after)
	})
	if err != nil {
		return Queue{}, fmt.Errorf("edit queue entry %s: %w", e.EntryID, err)
	}
	return after, nil
}
