package prompt

import (
	"context"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Service is the set of operations on prompts. Who calls has authorised the caller
// for the task.
type Service struct {
	store    Store
	now      domain.Clock
	announce *event.Announcer
	observer Observer
}

// NewService returns a Service on store. A nil observer counts nothing.
func NewService(store Store, now domain.Clock, announce *event.Announcer, observer Observer) *Service {
	if observer == nil {
		observer = unobserved{}
	}
	return &Service{store, now, announce, observer}
}

// mutate is [task.Mutate] on the store of this package.
func (s *Service) mutate(ctx context.Context, taskID string, decide func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error)) error {
	return task.Mutate(ctx, s.store.InTx, s.announce, taskID, decide)
}
