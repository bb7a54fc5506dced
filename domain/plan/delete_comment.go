package plan

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// CommentRemoval asks that a comment goes.
type CommentRemoval struct {
	TaskID          string
	ID              string
	PlanID          string // the plan the caller saw
	ExpectedVersion int64  // of the comment, from 1
}

// validate returns r with canonical ids.
func (r CommentRemoval) validate() (CommentRemoval, error) {
	var p domain.Problems
	var ok bool
	if r.ID, ok = domain.ParseID(r.ID); !ok {
		return r, ErrCommentNotFound
	}
	r.PlanID = checkPlanID(&p, "/query/plan_id", r.PlanID)
	checkVersion(&p, "/query/expected_version", r.ExpectedVersion)
	return r, p.Err()
}

// DeleteComment removes a comment and answers the comments as they are then. A
// comment that is gone already or of another version is a [CommentsChangedError]
// (PC-4), and so is a plan that is not the current one (PC-5).
func (s *Service) DeleteComment(ctx context.Context, r CommentRemoval) (after Snapshot, err error) {
	defer func() { s.observe(OpDelete, false, err) }()
	if r, err = r.validate(); err != nil {
		return Snapshot{}, err
	}
	err = s.mutate(ctx, r.TaskID, func(ctx context.Context, tx Tx) (outcome, error) {
		snapshot, err := tx.CommentsSnapshot(ctx, r.TaskID)
		if err != nil {
			return outcome{}, err
		}
		if err := snapshot.checkPlan(r.PlanID); err != nil {
			return outcome{}, err
		}
		found, err := snapshot.Pick([]Ref{{r.ID, r.ExpectedVersion}})
		if err != nil {
			return outcome{}, err
		}
		after = snapshot.Without(found)
		return ofComments(after), tx.ConsumeComments(ctx, found)
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("delete plan comment %s of task %s: %w", r.ID, r.TaskID, err)
	}
	return after, nil
}
