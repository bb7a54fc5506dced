package prompt

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/domain/session"
)

// RemoveEntry cancels a pending queued entry and answers the queue as it is then
// (DL-5). The comments it consumed do not come back, and its exact replay still
// answers (AD-7).
//
// Errors: [task.ErrNotFound], [task.ErrArchived], [session.ErrNotFound],
// [ErrEntryNotFound], [ErrEntryReserved], [ErrEntryNotEditable].
func (s *Service) RemoveEntry(ctx context.Context, taskID, sessionID, entryID string) (Queue, error) {
	after, err := s.changeQueue(ctx, taskID, sessionID, func(ctx context.Context, tx Tx, _ *session.Session, q *Queue) (bool, error) {
		entry, err := q.entry(ctx, tx, taskID, entryID)
		if err != nil {
			return false, err
		}
		entry.become(StateCancelled, s.now())
		if err := tx.UpdateDelivery(ctx, *entry, StatePending); err != nil {
			return false, err
		}
		q.Entries = slices.DeleteFunc(q.Entries, func(d Delivery) bool { return d.State == StateCancelled })
		return true, nil
	})
	if err != nil {
		return Queue{}, fmt.Errorf("remove queue entry %s: %w", entryID, err)
	}
	return after, nil
}
