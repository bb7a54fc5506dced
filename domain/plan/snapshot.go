package plan

import (
	"slices"
	"strconv"

	"gatehouse/domain"
)

// Snapshot is the complete state of the pending comments of a task's current
// plan. The plan id is part of its identity: it tells a new plan from a deleted
// one whose revision had the same value. It is empty, and so is the rest, when a
// task has no plan.
type Snapshot struct {
	TaskID   string
	PlanID   string
	Revision int64     // from 0, +1 per change (PC-1)
	Comments []Comment // in canonical order: created_at, then id
}

// Tag names this state among all that any plan ever had (API-6).
func (s Snapshot) Tag() string { return s.PlanID + ":" + strconv.FormatInt(s.Revision, 10) }

// checkPlan is a [CommentsChangedError] when planID is not the current plan (PC-5).
func (s Snapshot) checkPlan(planID string) error {
	if planID != s.PlanID {
		return &CommentsChangedError{s}
	}
	return nil
}

// with is the state after added joined the comments in one change (PC-1).
func (s Snapshot) with(added ...Comment) Snapshot {
	s.Comments = slices.Concat(s.Comments, added)
	slices.SortFunc(s.Comments, compare)
	s.Revision++
	return s
}

// edited is the state after changed took the place of the comment with its id.
func (s Snapshot) edited(changed Comment) Snapshot {
	s.Comments = slices.Clone(s.Comments)
	for i, c := range s.Comments {
		if c.ID == changed.ID {
			s.Comments[i] = changed
		}
	}
	s.Revision++
	return s
}

// checkLimits judges the whole collection (PC-2).
func (s Snapshot) checkLimits() error {
	if n := int64(len(s.Comments)); n > domain.MaxCommentCount {
		return &LimitError{LimitCount, domain.MaxCommentCount, n}
	}
	var total int64
	for _, c := range s.Comments {
		total += c.size()
	}
	if total > domain.MaxCommentTotal {
		return &LimitError{LimitTotal, domain.MaxCommentTotal, total}
	}
	return nil
}
