package plan

import (
	"context"
	"fmt"
)

// Delete removes the current plan of a task with its revisions and comments; a
// plan saved later has another id, and no comments (PC-8). It returns [ErrNotFound].
func (s *Service) Delete(ctx context.Context, taskID string) error {
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx Tx) (outcome, error) {
		p, err := tx.Plan(ctx, taskID)
		if err != nil {
			return outcome{}, err
		}
		return outcome{plan: true, comments: true, attrs: ofPlan(p).attrs}, tx.DeletePlan(ctx, p)
	})
	if err != nil {
		return fmt.Errorf("delete plan of task %s: %w", taskID, err)
	}
	return nil
}
