package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Outcomes lists every outcome.
var Outcomes = []Outcome{OutcomeSucceeded, OutcomeFailed, OutcomeUnknown}

// Acknowledge settles an attempted delivery, or one with an unknown outcome, however
// old, for whoever attempted it. After success its turn goes on until it is ended;
// after failure, or when nobody can tell, the turn ends failed. A delivery that is
// settled already stays as it is and is answered as it stands: the first word
// counts. The sources of a combination are settled with it (DL-8). detail is the runner's, for people to read; it may be nil.
//
// Errors: [domain.ValidationError], [ErrDeliveryNotFound], [ErrLeaseLost] for a
// token that is not the one of the attempt, or whose lease ended before there was one,
// and [ErrNotAttempted] while it is alive.
func (s *Service) Acknowledge(ctx context.Context, taskID, deliveryID string, token Token, outcome Outcome, detail *string) (Delivery, error) {
	if !slices.Contains(Outcomes, outcome) {
		return Delivery{}, domain.Invalid("/body/outcome", domain.ProblemEnum, "must be an outcome")
	}
	if err := checkDetail("/body/detail", detail); err != nil {
		return Delivery{}, err
	}
	var d Delivery
	var settled bool
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, _ task.Task) (change *event.Change, err error) {
		if d, err = tx.Delivery(ctx, taskID, deliveryID); err != nil {
			return nil, err
		}
		if d.AttemptedAt == nil {
			return nil, notAttempted(ctx, tx, d, token)
		}
		from := d.State
		if settled, err = d.settle(token, outcome, detail, s.now()); err != nil || !settled {
			return nil, err
		}
		change = &event.Change{Sessions: []event.SessionChange{{SessionID: d.SessionID, Queue: true}}}
		if outcome != OutcomeSucceeded {
			if change.Task, err = failTurn(ctx, tx, d, s.now()); err != nil {
				return nil, err
			}
		}
		return change, updateWhole(ctx, tx, d, from)
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("acknowledge delivery %s: %w", deliveryID, err)
	}
	if settled {
		s.observer.Delivered(outcome)
	}
	return d, nil
}

// notAttempted says why d, which was never attempted, cannot be settled: by its owner
// because of that, by anybody else because it is not theirs (DL-1).
func notAttempted(ctx context.Context, tx Tx, d Delivery, token Token) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if err := d.checkReserved(token, now); err != nil {
		return err
	}
	return ErrNotAttempted
}

// settle notes the outcome of d at a time and reports whether that changed it.
func (d *Delivery) settle(token Token, outcome Outcome, detail *string, at time.Time) (changed bool, err error) {
	next := StateAcknowledged
	if outcome == OutcomeUnknown {
		next = StateOutcomeUnknown
	}
	switch {
	case !d.heldBy(token):
		return false, ErrLeaseLost
	case d.AttemptedAt == nil:
		return false, ErrNotAttempted
	case !d.State.CanBecome(next):
		return false, nil
	}
	d.become(next, at)
	d.Outcome, d.Detail = &outcome, detail
	return true, nil
}

// failTurn ends the turn of d as failed. With the last running turn the session
// waits for input again; a session that was deleted or reset since had its turns
// deleted or ended with that.
func failTurn(ctx context.Context, tx Tx, d Delivery, at time.Time) (ended bool, err error) {
	if d.TurnID == nil {
		return false, nil
	}
	ses, err := tx.LockSession(ctx, d.TaskID, d.SessionID)
	if errors.Is(err, session.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if ses.IncarnationID != d.IncarnationID {
		return false, nil // the reset has ended it, and what runs now is not its session
	}
	if err := tx.EndTurn(ctx, *d.TurnID, session.TurnFailed, at); err != nil {
		return false, err
	}
	ses, changed, err := ses.AfterTurn(ctx, tx, at)
	if err != nil || !changed {
		return true, err
	}
	return true, tx.SaveSession(ctx, ses)
}
