package prompt

import (
	"cmp"
	"context"
	"errors"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/task"
)

// Service is the set of operations on prompts. Who calls has authorised the caller
// for the task.
type Service struct {
	store    Store
	now      domain.Clock
	announce *event.Announcer
	observer Observer
	capacity int64
	waker    Waker
	recheck  time.Duration
	overdue  time.Duration
	hook     Hook
	lease    plan.Lease

	attachmentExpiry time.Duration
}

// Config is what a [Service] works with.
type Config struct {
	Store    Store
	Now      domain.Clock
	Announce *event.Announcer
	Observer Observer   // nil counts nothing
	Capacity int64      // deliveries that a session may be owed (AD-5); 0 is [domain.DefaultCapacity]
	Hook     Hook       // asked before every direct prompt; nil for none
	Lease    plan.Lease // under which it is asked, the one of the plan service; needed with a Hook only

	Waker   Waker         // wakes reserves that wait (DL-13); nil: none is woken, all look by themselves
	Recheck time.Duration // after which such a reserve looks by itself (EV-4); 0 is [DefaultRecheck]

	// AcknowledgeTimeout is how long after its attempt a delivery without an
	// acknowledgement is given up (DL-3); 0 is [DefaultAcknowledgeTimeout].
	AcknowledgeTimeout time.Duration
	AttachmentExpiry   time.Duration // how long one stays that nobody claims (AD-10); 0 is [domain.DefaultAttachmentExpiry]
}

// NewService returns a Service on c.
func NewService(c Config) *Service {
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	if c.Waker == nil {
		c.Waker = event.NewHub()
	}
	return &Service{
		store:    c.Store,
		now:      c.Now,
		announce: c.Announce,
		observer: c.Observer,
		capacity: cmp.Or(c.Capacity, domain.DefaultCapacity),
		waker:    c.Waker,
		recheck:  cmp.Or(c.Recheck, DefaultRecheck),
		overdue:  cmp.Or(c.AcknowledgeTimeout, DefaultAcknowledgeTimeout),
		hook:     c.Hook,
		lease:    c.Lease,

		attachmentExpiry: cmp.Or(c.AttachmentExpiry, domain.DefaultAttachmentExpiry),
	}
}

// mutate is [task.Mutate] on the store of this package. It counts the calls that
// come too late for their lease (OP-8).
func (s *Service) mutate(ctx context.Context, taskID string, decide func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error)) error {
	err := task.Mutate(ctx, s.store.InTx, s.announce, taskID, decide)
	if errors.Is(err, ErrLeaseLost) {
		s.observer.LeaseLost()
	}
	return err
}
