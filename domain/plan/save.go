package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/domain"
)

// SaveRequest asks for new content of a task's plan.
type SaveRequest struct {
	TaskID          string
	Content         string   // at most 1 MiB
	ExpectedVersion *int64   // nil: whatever is there (PC-9)
	IfMatch         []string // tags of plans, or "*" for any plan; nil: no condition (API-6)
	OrphanedRefs    []Ref    // comments whose marked text this edit removed (PC-7)
}

// validate returns r with canonical references.
func (r SaveRequest) validate() (SaveRequest, error) {
	var p domain.Problems
	domain.CheckText(&p, "/body/content", r.Content, domain.MaxPlanContent)
	if r.ExpectedVersion != nil {
		checkVersion(&p, "/body/expected_version", *r.ExpectedVersion)
	}
	if r.ExpectedVersion != nil && r.IfMatch != nil {
		p.Add("/header/If-Match", domain.ProblemConflict, "must not be sent together with expected_version")
	}
	r.OrphanedRefs = CheckRefs(&p, "/body/orphaned_comment_refs", r.OrphanedRefs)
	return r, p.Err()
}

// checkCondition is a [ChangedError] when the plan, nil for none, is not the one
// that r expects.
func (r SaveRequest) checkCondition(current *Plan) error {
	switch {
	case r.IfMatch != nil && !matches(r.IfMatch, current):
		return &ChangedError{Plan: current, ByHeader: true}
	case r.ExpectedVersion != nil && (current == nil || current.Version != *r.ExpectedVersion):
		return &ChangedError{Plan: current}
	default:
		return nil
	}
}

func matches(tags []string, current *Plan) bool {
	return current != nil && (slices.Contains(tags, "*") || slices.Contains(tags, current.Tag()))
}

// Save makes content the current content of a task's plan, or its first plan. It
// keeps the plan row and so its comments (PC-7), except those whose text the edit
// removed: they go in the same transaction, or nothing happens and the error is a
// [CommentsChangedError]. The same content again makes no new version; references
// to orphans count even then. A plan that is not the expected one is a
// [ChangedError] (PC-9).
func (s *Service) Save(ctx context.Context, r SaveRequest) (saved Plan, err error) {
	defer func() {
		if len(r.OrphanedRefs) > 0 {
			s.observe(OpOrphan, false, err)
		}
	}()
	if r, err = r.validate(); err != nil {
		return Plan{}, err
	}
	err = s.mutate(ctx, r.TaskID, func(ctx context.Context, tx Tx) (outcome, error) {
		current, err := currentPlan(ctx, tx, r.TaskID)
		if err != nil {
			return outcome{}, err
		}
		if err := r.checkCondition(current); err != nil {
			return outcome{}, err
		}
		if current == nil {
			saved = newPlan(r.TaskID, r.Content, s.now())
			return saveFirst(ctx, tx, saved, r.OrphanedRefs)
		}
		saved = *current
		done, err := clearOrphans(ctx, tx, &saved, r.OrphanedRefs)
		if err != nil || r.Content == saved.Content {
			return done, err
		}
		saved = saved.next(r.Content, s.now())
		done.plan = true
		done.attrs = append(done.attrs, ofPlan(saved).attrs...)
		return done, tx.SavePlan(ctx, saved)
	})
	if err != nil {
		return Plan{}, fmt.Errorf("save plan of task %s: %w", r.TaskID, err)
	}
	return saved, nil
}

// currentPlan returns nil when the task has no plan.
func currentPlan(ctx context.Context, tx Tx, taskID string) (*Plan, error) {
	p, err := tx.Plan(ctx, taskID)
	if errors.Is(err, ErrNotFound) {
		return nil, nil //nolint:nilnil // No plan is an answer here, not a failure.
	}
	return &p, err
}

// saveFirst stores a task's new plan. There are no comments yet that refs could
// name.
func saveFirst(ctx context.Context, tx Tx, p Plan, refs []Ref) (outcome, error) {
	if _, err := (Snapshot{TaskID: p.TaskID}).Pick(refs); err != nil {
		return outcome{}, err
	}
	done := ofPlan(p)
	done.comments = true
	return done, tx.SavePlan(ctx, p)
}

// clearOrphans removes the comments that refs name, all or none (PC-7).
func clearOrphans(ctx context.Context, tx Tx, p *Plan, refs []Ref) (outcome, error) {
	if len(refs) == 0 {
		return outcome{}, nil
	}
	snapshot, err := tx.CommentsSnapshot(ctx, p.TaskID)
	if err != nil {
		return outcome{}, err
	}
	orphans, err := snapshot.Pick(refs)
	if err != nil {
		return outcome{}, err
	}
	after := snapshot.Without(orphans)
	p.CommentsRevision = after.Revision
	return ofComments(after), tx.ConsumeComments(ctx, orphans)
}
