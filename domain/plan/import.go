package plan

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// ImportRequest brings drafts of an older client.
type ImportRequest struct {
	TaskID string
	PlanID string  // the plan the drafts are on
	Drafts []Draft // at most 100; each is judged on its own
}

// validate returns r with a canonical plan id. The drafts are not looked at.
func (r ImportRequest) validate() (ImportRequest, error) {
	var p domain.Problems
	r.PlanID = checkPlanID(&p, "/body/plan_id", r.PlanID)
	if len(r.Drafts) > domain.MaxRefs {
		p.Add("/body/drafts", domain.ProblemTooMany, "must be at most %d drafts", domain.MaxRefs)
	}
	return r, p.Err()
}

// Imported says what an import made of its drafts.
type Imported struct {
	Results  []DraftResult // one per draft, in their order; never nil
	Snapshot Snapshot      // the comments as they are then
}

// Import makes comments of those drafts that can be, and answers for each (PC-13).
// Whatever it creates adds 1 to the comments revision (PC-1). A plan that is not
// the current one is a [CommentsChangedError] about the whole (PC-5).
func (s *Service) Import(ctx context.Context, r ImportRequest) (done Imported, err error) {
	defer func() { s.observe(OpImport, false, err) }()
	if r, err = r.validate(); err != nil {
		return Imported{}, err
	}
	err = s.mutate(ctx, r.TaskID, func(ctx context.Context, tx Tx) (outcome, error) {
		snapshot, err := tx.CommentsSnapshot(ctx, r.TaskID)
		if err != nil {
			return outcome{}, err
		}
		if err := snapshot.checkPlan(r.PlanID); err != nil {
			return outcome{}, err
		}
		ledger, err := tx.CommentCreations(ctx, r.TaskID, knownIDs(r.Drafts))
		if err != nil {
			return outcome{}, err
		}
		j := judge(snapshot, ledger, r.Drafts, s.now())
		done = Imported{j.results, j.after}
		if len(j.comments) == 0 {
			return outcome{}, nil
		}
		return ofComments(j.after), tx.InsertComments(ctx, j.comments, j.ledger)
	})
	if err != nil {
		return Imported{}, fmt.Errorf("import plan comments of task %s: %w", r.TaskID, err)
	}
	return done, nil
}
