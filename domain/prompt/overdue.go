package prompt

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain"
)

const overdueBatch = 100 // deliveries per look

// Overdue is a delivery as recovery found it, before it locked anything.
type Overdue struct {
	TaskID     string
	DeliveryID string
	State      State
	TokenHash  *string
	At         time.Time // the end of its lease, or its attempt
}

// stillIs reports whether d, under the lock of its task, is what was found without
// it: in the same state, by the same reservation, and overdue at before.
func (o Overdue) stillIs(d Delivery, before time.Time) bool {
	if d.State != o.State || !sameText(d.TokenHash, o.TokenHash) {
		return false
	}
	at := d.LeaseExpiresAt
	if o.State == StateAttempted {
		at = d.AttemptedAt
	}
	return at != nil && !at.After(before)
}

// grace is how long after its time, see [Overdue], a delivery is overdue.
func (s *Service) grace(state State) time.Duration {
	if state == StateAttempted {
		return s.acknowledgeTimeout
	}
	return 0
}

// eachOverdue calls f for the deliveries in a state that are overdue at before, the
// oldest first, until f fails.
func (s *Service) eachOverdue(ctx context.Context, state State, before time.Time, f func(o Overdue) error) error {
	for after := (*domain.Position)(nil); ; {
		found, err := s.store.Overdue(ctx, state, before, after, overdueBatch)
		if err != nil {
			return err
		}
		for _, o := range found {
			if err := f(o); err != nil {
				return err
			}
		}
		if len(found) < overdueBatch {
			return nil
		}
		last := found[len(found)-1]
		after = &domain.Position{At: last.At, ID: last.DeliveryID}
	}
}

// Neglected counts the deliveries that recovery should have taken up.
type Neglected struct {
	Reservations int // whose lease is over
	Attempts     int // that nobody acknowledged in time
}

// Neglected counts what [Service.Recover] would move, and has left for longer than
// patience: where it runs, it leaves nothing (OP-7).
func (s *Service) Neglected(ctx context.Context, patience time.Duration) (n Neglected, err error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return Neglected{}, fmt.Errorf("count neglected deliveries: %w", err)
	}
	for _, of := range []struct {
		state State
		count *int
	}{{StateReserved, &n.Reservations}, {StateAttempted, &n.Attempts}} {
		before := now.Add(-s.grace(of.state) - patience)
		if err := s.eachOverdue(ctx, of.state, before, func(Overdue) error { *of.count++; return nil }); err != nil {
			return Neglected{}, fmt.Errorf("count neglected deliveries: %w", err)
		}
	}
	return n, nil
}
