package plan

import (
	"context"
	"fmt"
)

// Revert makes a new version with the content of an earlier one (PC-9), even
// where that is the content already. It keeps the comments (PC-7). It returns
// [ErrNotFound] or [ErrRevisionNotFound].
func (s *Service) Revert(ctx context.Context, taskID string, version int64) (saved Plan, err error) {
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx Tx) (outcome, error) {
		current, err := tx.Plan(ctx, taskID)
		if err != nil {
			return outcome{}, err
		}
		earlier, err := tx.PlanRevision(ctx, taskID, version)
		if err != nil {
			return outcome{}, err
		}
		saved = current.next(earlier.Content, s.now())
		return ofPlan(saved), tx.SavePlan(ctx, saved)
	})
	if err != nil {
		return Plan{}, fmt.Errorf("revert plan of task %s to version %d: %w", taskID, version, err)
	}
	return saved, nil
}
