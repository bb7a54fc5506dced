package prompt

import (
	"cmp"
	"context"
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

	AttachmentExpiry time.Duration // how long one stays that nobody claims (AD-10); 0 is [domain.DefaultAttachmentExpiry]
}

// NewService returns a Service on c.
func NewService(c Config) *Service {
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	return &Service{
		store:    c.Store,
		now:      c.Now,
		announce: c.Announce,
		observer: c.Observer,
		capacity: cmp.Or(c.Capacity, domain.DefaultCapacity),
		hook:     c.Hook,
		lease:    c.Lease,

		attachmentExpiry: cmp.Or(c.AttachmentExpiry, domain.DefaultAttachmentExpiry),
	}
}

// mutate is [task.Mutate] on the store of this package.
func (s *Service) mutate(ctx context.Context, taskID string, decide func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error)) error {
	return task.Mutate(ctx, s.store.InTx, s.announce, taskID, decide)
}
