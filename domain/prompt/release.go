package prompt

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Release gives a reservation back before the boundary: the delivery is pending
// again, in its place. A combination is dissolved: it is discarded, and every source is
// pending in the place it had (DL-8). reason is the runner's, for people to read; it may be nil.
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
		d.Detail = reason
		if err := giveBack(ctx, tx, &d, s.now()); err != nil {
			return nil, err
		}
		return s.queueChanged(ctx, tx, ses)
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("release delivery %s: %w", deliveryID, err)
	}
	return d, nil
}

// giveBack writes that d is not reserved any more.
func giveBack(ctx context.Context, tx Tx, d *Delivery, at time.Time) error {
	if d.Kind != KindCombined {
		d.unreserve(at)
		return tx.UpdateDelivery(ctx, *d, StateReserved)
	}
	d.become(StateDiscarded, at)
	d.TokenHash = nil
	if err := tx.UpdateDelivery(ctx, *d, StateReserved); err != nil {
		return err
	}
	return moveSources(ctx, tx, *d, func(source *Delivery) { source.leave(at) })
}

// checkDetail judges what a runner tells about a delivery.
func checkDetail(field string, detail *string) error {
	var p domain.Problems
	if detail != nil {
		domain.CheckText(&p, field, *detail, domain.MaxDescription)
	}
	return p.Err()
}
