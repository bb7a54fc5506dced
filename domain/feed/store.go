package feed

import (
	"context"

	"gatehouse/domain/plan"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Store is read by streams. Package storetest holds what every Store must do. Its reads
// never wait for a transaction.
type Store interface {
	// InRead runs fn on one state of the database. fn may run again: it changes nothing
	// but its result.
	InRead(ctx context.Context, fn func(ctx context.Context, tx ReadTx) error) error

	// Numbers returns the change numbers of tasks, by their ids, without those that do
	// not exist.
	Numbers(ctx context.Context, taskIDs []string) (map[string]int64, error)
}

// ReadTx reads the topics of a task. What was "stamped after" a number is what a later
// change touched; everything was stamped after -1.
type ReadTx interface {
	// Task returns [task.ErrNotFound] when there is none.
	Task(ctx context.Context, id string) (task.Task, error)

	// TaskSessions returns all sessions of a task, oldest first.
	TaskSessions(ctx context.Context, taskID string) ([]session.Session, error)

	// SessionsAfter returns those with a topic of their own that was stamped after a number.
	SessionsAfter(ctx context.Context, taskID string, after int64) ([]session.Session, error)

	// PlanVersion returns id and version of the plan of a task, or [plan.ErrNotFound].
	PlanVersion(ctx context.Context, taskID string) (planID string, version int64, err error)

	// CommentsSnapshot returns [plan.ErrNotFound] when the task has no plan.
	CommentsSnapshot(ctx context.Context, taskID string) (plan.Snapshot, error)

	// QueueEntries returns what sessions are owed, in order of position in each.
	QueueEntries(ctx context.Context, sessionIDs []string) ([]Entry, error)

	// InterruptedTurns returns the turns of sessions that run and were asked to stop.
	InterruptedTurns(ctx context.Context, sessionIDs []string) ([]session.Turn, error)

	// ExecutionsAfter returns the executions of a task that were stamped after a number,
	// and RunningExecutionsOf those that run, both in the order of their stamps.
	ExecutionsAfter(ctx context.Context, taskID string, after int64) ([]Execution, error)
	RunningExecutionsOf(ctx context.Context, taskID string) ([]Execution, error)
}
