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

// step runs one step of a delivery: decide runs in a transaction that holds the
// row lock of a task, and the change it returns is stamped and, after the commit,
// told. With a nil change nothing was written.
func (s *Service) step(ctx context.Context, taskID string, decide func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error)) error {
	var n *event.Notice
	err := s.store.InTx(ctx, taskID, func(ctx context.Context, tx Tx) error {
		n = nil
		t, err := tx.LockTask(ctx, taskID)
		if err != nil {
			return err
		}
		change, err := decide(ctx, tx, t)
		if err != nil || change == nil {
			return err
		}
		seq, err := tx.Stamp(ctx, taskID, *change)
		n = &event.Notice{TaskID: taskID, Seq: seq, Change: *change}
		return err
	})
	if err == nil && n != nil {
		s.announce.Announce(ctx, *n)
	}
	return err
}
