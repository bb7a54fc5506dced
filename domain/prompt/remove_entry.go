package prompt

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// RemoveEntry cancels a pending queued entry and answers the queue as it is then
// (DL-5). The comments it consumed do not come back, and its exact replay still
// answers (AD-7).
//
// Errors: [task.ErrNotFound], [task.ErrArchived], [session.ErrNotFound],
// [ErrEntryNotFound], [ErrEntryReserved], [ErrEntryNotEditable].
func (s *Service) RemoveEntry(ctx context.Context, taskID, sessionID, entryID string) (after Queue, err error) {
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error) {
		ses, q, err := s.lockQueue(ctx, tx, t, sessionID)
		if err != nil {
			return nil, err
		}
		entry, err := q.entry(ctx, tx, t.ID, entryID)
		if err != nil {
			return nil, err
		}
		entry.become(StateCancelled, s.now())
		if err := tx.UpdateDelivery(ctx, *entry, StatePending); err != nil {
			return nil, err
		}
		q.Entries = slices.DeleteFunc(q.Entries, func(d Delivery) bool { return d.State == StateCancelled })
		after = q
		return s.saveQueue(ctx, tx, t, ses, &after)
	})
	if err != nil {
		return Queue{}, fmt.Errorf("remove queue entry %s: %w", entryID, err)
	}
	return after, nil
}
