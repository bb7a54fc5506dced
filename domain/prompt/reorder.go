package prompt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/domain/session"
)

// Reorder puts the pending queued entries in the order of ids and answers the queue
// as it is then (DL-7). They exchange the places that they have among themselves;
// every other delivery keeps its own. The order that is there changes nothing.
//
// Errors: [task.ErrNotFound], [task.ErrArchived], [session.ErrNotFound],
// [QueueChangedError] unless ids names every one of them exactly once.
func (s *Service) Reorder(ctx context.Context, taskID, sessionID string, ids []string) (Queue, error) {
	after, err := s.changeQueue(ctx, taskID, sessionID, func(ctx context.Context, tx Tx, _ *session.Session, q *Queue) (bool, error) {
		reordered, moved, ok := q.reorder(ids, s.now())
		if !ok {
			return false, &QueueChangedError{*q}
		}
		if len(moved) == 0 {
			return false, nil
		}
		*q = reordered
		return true, tx.PlaceEntries(ctx, moved)
	})
	if err != nil {
		return Queue{}, fmt.Errorf("reorder queue of session %s: %w", sessionID, err)
	}
	return after, nil
}

// reorder is q with its movable entries in the order of ids, and those that have
// another position there. It is not ok when ids is no permutation of them.
func (q Queue) reorder(ids []string, now time.Time) (after Queue, moved []Delivery, ok bool) {
	var places []int64
	byID := map[string]int{}
	for i, d := range q.Entries {
		if d.movable() {
			places = append(places, d.Position)
			byID[d.ID] = i
		}
	}
	if len(ids) != len(places) {
		return Queue{}, nil, false
	}
	after = q
	after.Entries = slices.Clone(q.Entries)
	for n, id := range ids {
		i, named := byID[id]
		if !named {
			return Queue{}, nil, false
		}
		delete(byID, id)
		if d := &after.Entries[i]; d.Position != places[n] {
			d.Position, d.UpdatedAt = places[n], now
			moved = append(moved, *d)
		}
	}
	slices.SortFunc(after.Entries, func(a, b Delivery) int { return cmp.Compare(a.Position, b.Position) })
	return after, moved, true
}
