package prompt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// DefaultRecheck is after how long a reserve that waits looks by itself: news may be
// lost between processes, and nobody tells of a lease that ends (EV-4).
const DefaultRecheck = 2 * time.Second

// Waker wakes those who wait for changes of a task.
type Waker interface {
	// Subscribe returns the news of a task. See [event.Hub].
	Subscribe(taskID string) *event.Subscription
}

// Watch is what decides whether another try to reserve can have another result. Two
// that are equal, and not due, mean that it cannot.
type Watch struct {
	Stamp int64 // of the last change of the session's queue, or of the task and its sessions (EV-1)
	Due   bool  // a reservation of the session has a lease that is over
}

// Wait says how a reserve waits when there is nothing to hand out.
type Wait struct {
	Seconds *int // for how long, 0 to 60; nil is 0

	// Check is asked each time before the reserve looks again, whether its caller may
	// still have something. Its error ends the wait. Nil is always.
	Check func(ctx context.Context) error
}

func (w Wait) patience() (time.Duration, error) {
	if w.Seconds == nil {
		return 0, nil
	}
	return secondsBetween("/body/wait_seconds", *w.Seconds, 0, domain.MaxWaitSeconds)
}

// Await is [Service.Reserve] that waits for something to hand out. Whatever may bring
// that about wakes it: a prompt that arrives, the end of a turn, a release, auto_run
// that is turned on, a task that comes back from the archive, recovery (DL-13). It
// returns nil when the time is over or the server ends, and whatever is wrong as soon
// as it is: the errors of Reserve, those of w.Check, and that of ctx.
func (s *Service) Await(ctx context.Context, taskID, sessionID string, leaseSeconds *int, w Wait) (*Reservation, error) {
	patience, err := w.patience()
	if err != nil {
		return nil, err
	}
	if patience == 0 {
		return s.Reserve(ctx, taskID, sessionID, leaseSeconds)
	}
	if _, err := leaseOf(leaseSeconds); err != nil {
		return nil, err
	}
	news := s.waker.Subscribe(taskID)
	defer news.Close()
	r, err := waiting{
		news:    news.C(),
		recheck: s.recheck,
		look:    func(ctx context.Context) (Watch, error) { return s.store.Watch(ctx, taskID, sessionID) },
		reserve: func(ctx context.Context) (*Reservation, error) {
			return s.Reserve(ctx, taskID, sessionID, leaseSeconds)
		},
		check: w.Check,
	}.run(ctx, patience)
	if err != nil {
		return nil, fmt.Errorf("wait for a delivery of session %s: %w", sessionID, err)
	}
	if r != nil && ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), s.handBack(context.WithoutCancel(ctx), *r))
	}
	return r, nil
}

// handBack puts back what was reserved for a caller who has gone meanwhile, as the end
// of its lease would: nobody knows the token.
func (s *Service) handBack(ctx context.Context, r Reservation) error {
	return s.mutate(ctx, r.Delivery.TaskID, func(ctx context.Context, tx Tx, _ task.Task) (*event.Change, error) {
		d, err := tx.Delivery(ctx, r.Delivery.TaskID, r.Delivery.ID)
		if err != nil || d.State != StateReserved || !d.heldBy(r.Token) {
			return nil, err
		}
		return s.expire(ctx, tx, d)
	})
}
