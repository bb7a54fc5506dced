package subagent

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// ExecutionStore keeps executions. Package storetest holds what every store must do.
type ExecutionStore interface {
	// InTx runs fn in one read-write transaction about one task, committing if fn
	// returns nil and rolling back otherwise. fn may run again: it leaves no mark
	// but through tx.
	InTx(ctx context.Context, taskID string, fn func(ctx context.Context, tx ExecutionTx) error) error

	// Executions returns at most limit executions that a session delegated, oldest
	// first, behind after when it is not nil.
	Executions(ctx context.Context, parentSessionID string, after *domain.Position, limit int) ([]Execution, error)
}

// ExecutionEnder is what ending executions takes of a transaction.
type ExecutionEnder interface {
	session.Locker

	// RunningExecutions returns the executions that run in a session or were
	// delegated by it, in the order of their ids.
	RunningExecutions(ctx context.Context, sessionID string) ([]Execution, error)

	// EndExecution writes the status, end and times of e.
	EndExecution(ctx context.Context, e Execution) error
}

// ExecutionTx is what the operations on executions do in a transaction.
type ExecutionTx interface {
	task.Tx
	ExecutionEnder
	ExecutionMover

	// Execution returns an execution of any task, or [ErrExecutionNotFound].
	Execution(ctx context.Context, id string) (Execution, error)

	// InsertExecution reports whether the id was free.
	InsertExecution(ctx context.Context, e Execution) (inserted bool, err error)

	// LastRun returns the number of the last run of a child, 0 when there is none,
	// and whether one of its executions runs.
	LastRun(ctx context.Context, childSessionID string) (run int, running bool, err error)

	// Delegation returns a message of a session as a delegation of a call, which it
	// need not issue, or [session.ErrMessageNotFound]; a message that was rolled back
	// is none.
	Delegation(ctx context.Context, sessionID, messageID, toolCallID string) (Delegation, error)

	// FreeDelegation returns the newest delegation of a call in the current round of
	// a session to which no execution of that call is bound, or nil.
	FreeDelegation(ctx context.Context, sessionID, toolCallID string) (*Delegation, error)
}

// Executions is the set of operations on executions.
type Executions struct {
	store    ExecutionStore
	now      domain.Clock
	announce *event.Announcer
}

// NewExecutions returns the operations on store.
func NewExecutions(store ExecutionStore, now domain.Clock, announce *event.Announcer) *Executions {
	return &Executions{store, now, announce}
}

// List returns one page of the executions that a session delegated, oldest first.
func (s *Executions) List(ctx context.Context, parentSessionID string, r domain.PageRequest) (domain.Page[Execution], error) {
	page, err := domain.ReadPage(r, "executions/"+parentSessionID,
		func(after *domain.Position, limit int) ([]Execution, error) {
			return s.store.Executions(ctx, parentSessionID, after, limit)
		},
		func(e Execution) domain.Position { return domain.Position{At: e.StartedAt, ID: e.ID} })
	if err != nil {
		return domain.Page[Execution]{}, fmt.Errorf("list executions of session %s: %w", parentSessionID, err)
	}
	return page, nil
}

// mutate is [task.Mutate] on the store of this package.
func (s *Executions) mutate(ctx context.Context, taskID string, decide func(ctx context.Context, tx ExecutionTx, t task.Task) (*event.Change, error)) error {
	return task.Mutate(ctx, s.store.InTx, s.announce, taskID, decide)
}
