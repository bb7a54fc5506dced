package plan

import (
	"context"
	"slices"
)

// Consumer is the part of a transaction through which comments leave a plan. One
// implementation serves both transports of an admission, orphan clean-up and
// deletion by hand (AD-6).
//
// The caller holds the task row lock (PC-12), reads the snapshot, asks
// [Snapshot.Pick] for the comments of its references, and consumes those. Of a
// task without a plan, Snapshot{TaskID: id} refuses every reference.
type Consumer interface {
	// CommentsSnapshot reads the state of a task's comments in one statement. It returns
	// [ErrNotFound] when the task has no plan.
	CommentsSnapshot(ctx context.Context, taskID string) (Snapshot, error)

	// ConsumeComments removes exactly the comments, of one plan and at least one,
	// matching task, plan, id and version, and adds 1 to the plan's comments
	// revision (PC-1). When the database removes another number of rows than
	// there are comments, or does not know the plan, it fails and the transaction
	// with it: under the lock that is a defect, not a conflict.
	ConsumeComments(ctx context.Context, comments []Comment) error
}

// Pick returns the comments that refs name, in canonical order. When one of them
// was edited, deleted, consumed, or never was of this plan, it returns a
// [CommentsChangedError] and no comment (AD-1). refs are canonical and name no
// id twice, as [CheckRefs] has them.
func (s Snapshot) Pick(refs []Ref) ([]Comment, error) {
	var picked []Comment
	for _, c := range s.Comments {
		if slices.Contains(refs, c.Ref()) {
			picked = append(picked, c)
		}
	}
	if len(picked) != len(refs) {
		return nil, &CommentsChangedError{s}
	}
	return picked, nil
}

// Without is the state after comments left in one change (PC-1).
func (s Snapshot) Without(comments []Comment) Snapshot {
	gone := make(map[string]bool, len(comments))
	for _, c := range comments {
		gone[c.ID] = true
	}
	s.Comments = slices.DeleteFunc(slices.Clone(s.Comments), func(c Comment) bool { return gone[c.ID] })
	s.Revision++
	return s
}
