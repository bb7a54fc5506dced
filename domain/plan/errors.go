package plan

import (
	"fmt"

	"gatehouse/domain"
)

// Failures of this package.
var (
	ErrNotFound         = &domain.Error{Kind: domain.KindNotFound, Code: "plan_not_found", Detail: "The task has no plan; save one first."}
	ErrRevisionNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "revision_not_found", Detail: "The plan has no such revision."}
	ErrCommentNotFound  = &domain.Error{Kind: domain.KindNotFound, Code: "comment_not_found", Detail: "There is no such comment."}
	ErrChanged          = &domain.Error{Kind: domain.KindConflict, Code: "plan_changed", Detail: "The plan is not the one the request expects; plan holds the current one."}
	ErrCommentsChanged  = &domain.Error{Kind: domain.KindConflict, Code: "plan_comments_changed", Detail: "The comments are not what the request expects; snapshot holds the current ones."}
	ErrLimit            = &domain.Error{Kind: domain.KindInvalid, Code: "comment_limit_exceeded", Detail: "A limit of plan comments would be exceeded; limit names it."}
)

// ChangedError is [ErrChanged] with the plan as it is (PC-9).
type ChangedError struct {
	Plan     *Plan // nil: the task has no plan
	ByHeader bool  // the condition came from If-Match: the kind is precondition (API-6)
}

// Error implements error.
func (e *ChangedError) Error() string { return ErrChanged.Error() }

// Unwrap makes it match the sentinel, of the kind that the condition asks for.
func (e *ChangedError) Unwrap() error {
	if e.ByHeader {
		return ErrChanged.OfKind(domain.KindPrecondition)
	}
	return ErrChanged
}

// CommentsChangedError is [ErrCommentsChanged] with the comments as they are. Its
// snapshot has no plan id when the task has no plan.
type CommentsChangedError struct{ Snapshot Snapshot }

// Error implements error.
func (e *CommentsChangedError) Error() string { return ErrCommentsChanged.Error() }

// Unwrap makes it match the sentinel.
func (e *CommentsChangedError) Unwrap() error { return ErrCommentsChanged }

// Names of the limits of a [LimitError] (PC-2).
const (
	LimitBody         = "body"          // bytes of a body
	LimitSelectedText = "selected_text" // bytes of a selected text
	LimitCount        = "count"         // comments of a plan
	LimitTotal        = "total"         // bytes of all bodies and selected texts of a plan
)

// LimitError is [ErrLimit] with the limit (PC-2).
type LimitError struct {
	Limit   string // one of the Limit constants
	Maximum int64  // inclusive
	Actual  int64  // what the request would have led to
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: %s is %d of at most %d", ErrLimit.Code, e.Limit, e.Actual, e.Maximum)
}

// Unwrap makes it match the sentinel.
func (e *LimitError) Unwrap() error { return ErrLimit }
