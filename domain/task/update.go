package task

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
)

// Patch changes a task. A nil field stays as it is (API-5).
type Patch struct {
	Title       *string
	Description *string
	Archived    *bool
}

func (p Patch) validate() error {
	var problems domain.Problems
	if p.Title != nil {
		checkTitle(&problems, *p.Title)
	}
	if p.Description != nil {
		checkDescription(&problems, *p.Description)
	}
	return problems.Err()
}

// apply returns t with p. An archived task stays as it is until it is unarchived,
// by the same patch at the earliest: else [ErrArchived].
func (p Patch) apply(t Task) (Task, error) {
	if p.Archived != nil {
		t.Archived = *p.Archived
	}
	renamed := t
	if p.Title != nil {
		renamed.Title = *p.Title
	}
	if p.Description != nil {
		renamed.Description = *p.Description
	}
	if renamed != t {
		return renamed, t.RequireActive()
	}
	return t, nil
}

// Update changes a task and answers it as it is then. A patch that changes
// nothing writes nothing.
func (s *Service) Update(ctx context.Context, id string, p Patch) (Task, error) {
	if err := p.validate(); err != nil {
		return Task{}, err
	}
	t, err := s.change(ctx, id, func(_ context.Context, _ WriteTx, t Task) (Task, error) { return p.apply(t) })
	if err != nil {
		return Task{}, fmt.Errorf("update task %s: %w", id, err)
	}
	return t, nil
}

// change locks a task, writes what decide makes of it, and tells. When decide
// returns the task as it was, nothing is written.
func (s *Service) change(ctx context.Context, id string, decide func(context.Context, WriteTx, Task) (Task, error)) (Task, error) {
	var changed Task
	notice, err := Stamped(ctx, s.store.InTx, id, func(ctx context.Context, tx WriteTx, t Task) (_ *event.Change, err error) {
		if changed, err = decide(ctx, tx, t); err != nil || changed == t {
			return nil, err
		}
		changed.UpdatedAt = s.now()
		return &event.Change{Task: true}, tx.UpdateTask(ctx, changed)
	})
	if err != nil {
		return Task{}, err
	}
	if notice != nil {
		changed.ChangeSeq, changed.TaskSeq = notice.Seq, notice.Seq
		s.announce.Announce(ctx, *notice)
	}
	return changed, nil
}
