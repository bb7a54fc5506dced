package plan

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// CommentEdit asks for another body of a comment.
type CommentEdit struct {
	TaskID          string
	ID              string
	PlanID          string // the plan its author saw
	ExpectedVersion int64  // of the comment, from 1
	Body            string
}

// validate returns e with canonical ids.
func (e CommentEdit) validate() (CommentEdit, error) {
	var p domain.Problems
	var ok bool
	if e.ID, ok = domain.ParseID(e.ID); !ok {
		return e, ErrCommentNotFound
	}
	e.PlanID = checkPlanID(&p, "/body/plan_id", e.PlanID)
	checkVersion(&p, "/body/expected_version", e.ExpectedVersion)
	if domain.IsBlank(e.Body) {
		p.Add("/body/body", domain.ProblemBlank, "must not be blank")
	}
	if domain.HasNUL(e.Body) {
		p.Add("/body/body", domain.ProblemNUL, "must not contain U+0000")
	}
	if err := p.Err(); err != nil {
		return e, err
	}
	return e, checkBodyLimit(e.Body)
}

// EditComment replaces the body of a comment, which gets its next version, and
// answers the comments as they are then. A comment that is gone or of another
// version is a [CommentsChangedError] (PC-4), and so is a plan that is not the
// current one (PC-5).
func (s *Service) EditComment(ctx context.Context, e CommentEdit) (after Snapshot, err error) {
	defer func() { s.observe(OpEdit, false, err) }()
	if e, err = e.validate(); err != nil {
		return Snapshot{}, err
	}
	err = s.mutate(ctx, e.TaskID, func(ctx context.Context, tx Tx) (outcome, error) {
		snapshot, err := tx.CommentsSnapshot(ctx, e.TaskID)
		if err != nil {
			return outcome{}, err
		}
		if err := snapshot.checkPlan(e.PlanID); err != nil {
			return outcome{}, err
		}
		found, err := snapshot.Pick([]Ref{{e.ID, e.ExpectedVersion}})
		if err != nil {
			return outcome{}, err
		}
		comment := found[0].edited(e.Body, s.now())
		after = snapshot.edited(comment)
		if err := after.checkLimits(); err != nil {
			return outcome{}, err
		}
		return ofComments(after), tx.UpdateComment(ctx, comment)
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("edit plan comment %s of task %s: %w", e.ID, e.TaskID, err)
	}
	return after, nil
}
