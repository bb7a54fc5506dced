package prompt

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Reservation is a leased claim on a delivery, proven by its token.
type Reservation struct {
	Delivery       Delivery
	Token          Token
	LeaseExpiresAt time.Time // by the database's clock
}

// Reserve gives the caller the head of a session's deliveries for leaseSeconds, 1
// to 300 and by default 30. It returns nil when there is nothing to hand out: the
// session is running, its auto_run is off, another lease is alive (DL-1), or
// nothing is pending. A combination is handed out with auto_run off too: a person
// asked for it. A delivery whose lease has expired is handed out again, with a new
// token, in its place (DL-4).
//
// Errors: [domain.ValidationError], [task.ErrArchived], [session.ErrNotFound],
// [session.UnavailableError] for a terminal session (DL-10).
func (s *Service) Reserve(ctx context.Context, taskID, sessionID string, leaseSeconds *int) (*Reservation, error) {
	lease, err := leaseOf(leaseSeconds)
	if err != nil {
		return nil, err
	}
	token := newToken()
	var reservation *Reservation
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error) {
		reservation = nil
		if err := t.RequireActive(); err != nil {
			return nil, err
		}
		ses, err := tx.LockSession(ctx, taskID, sessionID)
		if err != nil {
			return nil, err
		}
		if err := ses.RequireActive(); err != nil || ses.State == session.StateRunning {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		d, err := s.head(ctx, tx, ses, now)
		if err != nil || d == nil {
			return nil, err
		}
		expires := now.Add(lease)
		d.reserve(token, s.now(), expires)
		reservation = &Reservation{*d, token, expires}
		if err := tx.UpdateDelivery(ctx, *d, StatePending); err != nil {
			return nil, err
		}
		return s.queueChanged(ctx, tx, ses)
	})
	if err != nil {
		return nil, fmt.Errorf("reserve a delivery of session %s: %w", sessionID, err)
	}
	return reservation, nil
}

func leaseOf(seconds *int) (time.Duration, error) {
	if seconds == nil {
		return domain.DefaultLease * time.Second, nil
	}
	return secondsBetween("/body/lease_seconds", *seconds, 1, domain.MaxLeaseSeconds)
}

func secondsBetween(field string, n, least, most int) (time.Duration, error) {
	if n < least || n > most {
		return 0, domain.Invalid(field, domain.ProblemRange, "must be between %d and %d", least, most)
	}
	return time.Duration(n) * time.Second, nil
}

// head returns the pending delivery to hand out, nil when there is none or a lease
// is alive at now. An expired reservation is taken back to its place first.
func (s *Service) head(ctx context.Context, tx Tx, ses session.Session, now time.Time) (*Delivery, error) {
	reserved, pending, err := tx.Next(ctx, ses.ID)
	if err != nil || reserved != nil && reserved.leased(now) {
		return nil, err
	}
	d := pending
	if reserved != nil && (pending == nil || reserved.Position < pending.Position) {
		d = reserved
	}
	if d == nil || !ses.AutoRun && d.Kind != KindCombined {
		return nil, nil //nolint:nilnil // nothing to hand out is no failure
	}
	if reserved != nil {
		err = takeBack(ctx, tx, reserved, s.now())
	}
	return d, err
}

// takeBack puts a reserved delivery back to its place, a combination as the one it is
// (DL-4).
func takeBack(ctx context.Context, tx Tx, reserved *Delivery, at time.Time) error {
	reserved.unreserve(at)
	return tx.UpdateDelivery(ctx, *reserved, StateReserved)
}
