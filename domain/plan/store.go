package plan

import (
	"context"

	"gatehouse/domain/task"
)

// Store keeps plans and their comments. Package storetest holds what every Store
// must do. Its reads never wait for a transaction (PC-12).
type Store interface {
	// InTx runs fn in one read-write transaction about one task, committing if fn
	// returns nil and rolling back otherwise. fn may run again: it leaves no mark
	// but through tx.
	InTx(ctx context.Context, taskID string, fn func(ctx context.Context, tx Tx) error) error

	// Plan returns [ErrNotFound] when the task has none.
	Plan(ctx context.Context, taskID string) (Plan, error)

	// CommentsSnapshot reads revision and comments in one statement. It returns
	// [ErrNotFound] when the task has no plan.
	CommentsSnapshot(ctx context.Context, taskID string) (Snapshot, error)

	// PlanRevision returns a revision of the task's current plan, in one statement. It
	// returns [ErrNotFound] or [ErrRevisionNotFound].
	PlanRevision(ctx context.Context, taskID string, version int64) (Revision, error)

	// PlanRevisions returns at most limit revisions of the task's current plan with a
	// version below before, the newest first, in one statement.
	PlanRevisions(ctx context.Context, taskID string, before int64, limit int) ([]RevisionInfo, error)
}

// Tx is what the operations of this package do in a transaction. LockTask comes
// first.
type Tx interface {
	task.Tx
	Consumer

	// Plan returns [ErrNotFound] when the task has none.
	Plan(ctx context.Context, taskID string) (Plan, error)

	// SavePlan writes content, version and time of p, which may be new, and keeps
	// its content as a revision. The comments revision of a plan that exists stays.
	SavePlan(ctx context.Context, p Plan) error

	// DeletePlan removes a plan with its comments and revisions. The ledger stays.
	DeletePlan(ctx context.Context, p Plan) error

	// PlanRevision returns a revision of the task's current plan, in one statement. It
	// returns [ErrNotFound] or [ErrRevisionNotFound].
	PlanRevision(ctx context.Context, taskID string, version int64) (Revision, error)

	// CommentCreations returns the ledger entries of a task that have one of the ids, by id.
	CommentCreations(ctx context.Context, taskID string, ids []string) (map[string]Creation, error)

	// InsertComments stores comments of one plan, at least one, with their ledger
	// entries, and adds 1 to the plan's comments revision (PC-1).
	InsertComments(ctx context.Context, comments []Comment, ledger []Creation) error

	// UpdateComment writes body, version and time of c where the stored version is
	// the one before, and adds 1 to the plan's comments revision (PC-1). Where
	// there is no such row it fails: under the lock that is a defect.
	UpdateComment(ctx context.Context, c Comment) error
}
