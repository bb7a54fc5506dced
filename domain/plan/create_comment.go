package plan

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// NewComment asks for a comment on a plan.
type NewComment struct {
	TaskID string
	PlanID string // the plan its author saw
	Draft  Draft
}

// validate returns n with a canonical plan id.
func (n NewComment) validate() (NewComment, error) {
	var p domain.Problems
	n.PlanID = checkPlanID(&p, "/body/plan_id", n.PlanID)
	for _, f := range n.Draft.flaws() {
		p.Add("/body/"+f.field, f.code, "%s", f.message)
	}
	if err := p.Err(); err != nil {
		return n, err
	}
	return n, n.Draft.checkLimits()
}

// CreateComment adds a comment and answers the comments as they are then. The
// same request again, whatever became of the comment, changes nothing: replayed.
// Another request with the id is a [CommentsChangedError] (PC-3), and so is a plan
// that is not the current one (PC-5).
func (s *Service) CreateComment(ctx context.Context, n NewComment) (after Snapshot, replayed bool, err error) {
	defer func() { s.observe(OpCreate, replayed, err) }()
	if n, err = n.validate(); err != nil {
		return Snapshot{}, false, err
	}
	entry := n.Draft.creation(n.TaskID, n.PlanID)
	err = s.mutate(ctx, n.TaskID, func(ctx context.Context, tx Tx) (outcome, error) {
		replayed = false
		snapshot, err := tx.CommentsSnapshot(ctx, n.TaskID)
		if err != nil {
			return outcome{}, err
		}
		if err := snapshot.checkPlan(n.PlanID); err != nil {
			return outcome{}, err
		}
		ledger, err := tx.CommentCreations(ctx, n.TaskID, []string{entry.ID})
		if err != nil {
			return outcome{}, err
		}
		if earlier, ok := ledger[entry.ID]; ok {
			if earlier.Fingerprint != entry.Fingerprint {
				return outcome{}, &CommentsChangedError{snapshot}
			}
			after, replayed = snapshot, true
			return outcome{}, nil
		}
		comment := n.Draft.comment(n.TaskID, n.PlanID, s.now())
		after = snapshot.with(comment)
		if err := after.checkLimits(); err != nil {
			return outcome{}, err
		}
		return ofComments(after), tx.InsertComments(ctx, []Comment{comment}, []Creation{entry})
	})
	if err != nil {
		return Snapshot{}, false, fmt.Errorf("create plan comment %s of task %s: %w", entry.ID, n.TaskID, err)
	}
	return after, replayed, nil
}
