package prompt

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Renewal is a reservation whose lease was renewed.
type Renewal struct {
	Delivery       Delivery
	LeaseExpiresAt time.Time // by the database's clock
}

// Renew lets the lease of a live reservation end leaseSeconds from now, 1 to 300 and
// by default 30: that may be sooner than before. A lease that is over stays over, also
// when nobody has taken the delivery since (DL-1). The queue shows nothing of a lease,
// so a renewal is no change of it: no number, no stamp, no news.
//
// Errors: [domain.ValidationError], [ErrDeliveryNotFound], [ErrLeaseLost],
// [ErrAttempted].
func (s *Service) Renew(ctx context.Context, taskID, deliveryID string, token Token, leaseSeconds *int) (Renewal, error) {
	lease, err := leaseOf(leaseSeconds)
	if err != nil {
		return Renewal{}, err
	}
	var renewed Renewal
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, _ task.Task) (*event.Change, error) {
		d, err := tx.Delivery(ctx, taskID, deliveryID)
		if err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		if err := d.checkReserved(token, now); err != nil {
			return nil, err
		}
		expires := now.Add(lease)
		d.LeaseExpiresAt = &expires
		renewed = Renewal{d, expires}
		return nil, tx.UpdateDelivery(ctx, d, StateReserved)
	})
	if err != nil {
		return Renewal{}, fmt.Errorf("renew delivery %s: %w", deliveryID, err)
	}
	return renewed, nil
}
