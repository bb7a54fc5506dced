package prompt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// overduePatience is that with one delivery, which may be of a task that is locked.
const overduePatience = 10 * time.Second

// Recovery says what recovery did to a delivery.
type Recovery string

// What recovery does.
const (
	RecoveryLeaseExpired   Recovery = "lease_expired"   // a reservation whose lease is over is pending again
	RecoveryOutcomeUnknown Recovery = "outcome_unknown" // an attempt that nobody acknowledged is given up
)

// Recoveries lists them.
var Recoveries = []Recovery{RecoveryLeaseExpired, RecoveryOutcomeUnknown}

// Recover is one pass of recovery over all tasks (DL-3): reservations whose lease is
// over are pending again, and attempts without an acknowledgement for too long are
// [StateOutcomeUnknown], their turn ended, so that a person says what became of them.
// Nobody has to wait for it to reserve again; it is for those who list the queue, and
// for attempts. It may run in several processes at once, and it never waits for a
// live lease. A task that fails does not stop the others: the error tells of the
// first.
func (s *Service) Recover(ctx context.Context) error {
	now, err := s.store.Now(ctx)
	if err != nil {
		return fmt.Errorf("recover deliveries: %w", err)
	}
	failed := failures{of: map[string]bool{}}
	for _, state := range []State{StateReserved, StateAttempted} {
		if err := s.recoverAll(ctx, state, now.Add(-s.grace(state)), &failed); err != nil {
			return fmt.Errorf("recover %s deliveries: %w", state, err)
		}
	}
	if failed.first != nil {
		return fmt.Errorf("recover deliveries: %d tasks failed, the first with: %w", len(failed.of), failed.first)
	}
	return nil
}

// failures are the tasks that failed in a pass, which leaves them alone from then on.
type failures struct {
	of    map[string]bool
	first error
}

func (f *failures) add(taskID string, err error) {
	f.of[taskID] = true
	if f.first == nil {
		f.first = err
	}
}

// recoverAll recovers the deliveries in a state that are overdue at before.
func (s *Service) recoverAll(ctx context.Context, state State, before time.Time, failed *failures) error {
	return s.eachOverdue(ctx, state, before, func(o Overdue) error {
		if failed.of[o.TaskID] {
			return nil
		}
		err := s.recoverOne(ctx, o)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed.add(o.TaskID, err)
		}
		return nil
	})
}

// recoverOne recovers one delivery, in a transaction of its task alone.
func (s *Service) recoverOne(ctx context.Context, o Overdue) error {
	ctx, cancel := context.WithTimeout(ctx, overduePatience)
	defer cancel()
	moved := false
	err := s.mutate(ctx, o.TaskID, func(ctx context.Context, tx Tx, _ task.Task) (*event.Change, error) {
		moved = false
		d, err := tx.Delivery(ctx, o.TaskID, o.DeliveryID)
		if err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil || !o.stillIs(d, now.Add(-s.grace(o.State))) {
			return nil, err
		}
		moved = true
		if o.State == StateReserved {
			return s.expire(ctx, tx, d)
		}
		return s.giveUp(ctx, tx, d)
	})
	if errors.Is(err, task.ErrNotFound) || errors.Is(err, ErrDeliveryNotFound) {
		return nil // deleted meanwhile
	}
	if err == nil && moved {
		s.recovered(o.State)
	}
	return err
}

// recovered counts a delivery that was recovered from a state.
func (s *Service) recovered(from State) {
	if from == StateReserved {
		s.observer.Recovered(RecoveryLeaseExpired)
		return
	}
	s.observer.Recovered(RecoveryOutcomeUnknown)
	s.observer.Delivered(OutcomeUnknown)
}

// expire puts d, which is reserved, back to its place, and counts that as a change of
// the queue.
func (s *Service) expire(ctx context.Context, tx Tx, d Delivery) (*event.Change, error) {
	ses, err := tx.LockSession(ctx, d.TaskID, d.SessionID)
	if err != nil {
		return nil, err
	}
	if err := takeBack(ctx, tx, &d, s.now()); err != nil {
		return nil, err
	}
	return s.queueChanged(ctx, tx, ses)
}

// giveUp notes that nobody can tell what became of d, which is attempted, and of its
// sources (DL-8). Its turn ends failed. Whoever attempted it can still acknowledge it.
func (s *Service) giveUp(ctx context.Context, tx Tx, d Delivery) (*event.Change, error) {
	at := s.now()
	d.become(StateOutcomeUnknown, at)
	ended, err := failTurn(ctx, tx, d, at)
	if err != nil {
		return nil, err
	}
	change := queueChange(d.SessionID)
	change.Task = ended
	return change, updateWhole(ctx, tx, d, StateAttempted)
}
