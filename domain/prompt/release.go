package prompt

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Release gives a reservation back before the boundary: the delivery is pending
// again, in its place. reason is the runner's, for people to read; it may be nil.
//
// Errors: [domain.ValidationError], [ErrDeliveryNotFound], [ErrLeaseLost],
// [ErrAttempted] (DL-2).
func (s *Service) Release(ctx context.Context, taskID, deliveryID string, token Token, reason *string) (Delivery, error) {
	if err := checkDetail("/body/reason", reason); err != nil {
		return Delivery{}, err
	}
	var d Delivery
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, _ task.Task) (*event.Change, error) {
		var err error
		if d, err = tx.Delivery(ctx, taskID, deliveryID); err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		if err := d.checkReserved(token, now); err != nil {
			return nil, err
		}
		ses, err := tx.LockSession(ctx, taskID, d.SessionID)
		if err != nil {
			return nil, err
		}
		d.unreserve(s.now())
		d.Detail = reason
		if err := tx.UpdateDelivery(ctx, d, StateReserved); err != nil {
			return nil, err
		}
		return s.queueChanged(ctx, tx, ses)
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("release delivery %s: %w", deliveryID, err)
	}
	return d, nil
}

// checkDetail judges what a runner tells about a delivery.
func checkDetail(field string, detail *string) error {
	var p domain.Problems
	if detail != nil {
		domain.CheckText(&p, field, *detail, domain.MaxDescription)
	}
	return p.Err()
}
