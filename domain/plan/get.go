package plan

import (
	"context"
	"fmt"
)

// Get returns the current plan of a task, or [ErrNotFound].
func (s *Service) Get(ctx context.Context, taskID string) (Plan, error) {
	p, err := s.store.Plan(ctx, taskID)
	if err != nil {
		return Plan{}, fmt.Errorf("get plan of task %s: %w", taskID, err)
	}
	return p, nil
}

// Comments returns the pending comments on the current plan of a task, archived
// or not, or [ErrNotFound].
func (s *Service) Comments(ctx context.Context, taskID string) (Snapshot, error) {
	snapshot, err := s.store.CommentsSnapshot(ctx, taskID)
	if err != nil {
		return Snapshot{}, fmt.Errorf("get plan comments of task %s: %w", taskID, err)
	}
	return snapshot, nil
}
