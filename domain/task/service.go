package task

import (
	"context"

	"gatehouse/domain"
	"gatehouse/domain/event"
)

// Store keeps tasks. Package storetest holds what every Store must do.
type Store interface {
	// InTx runs fn in one read-write transaction about one task, committing if fn
	// returns nil and rolling back otherwise. fn may run again: it leaves no mark
	// but through tx.
	InTx(ctx context.Context, taskID string, fn func(ctx context.Context, tx WriteTx) error) error

	// Task returns [ErrNotFound] when there is none.
	Task(ctx context.Context, id string) (Task, error)

	// Tasks returns at most limit tasks that match f, oldest first, behind after
	// when it is not nil.
	Tasks(ctx context.Context, f Filter, after *domain.Position, limit int) ([]Task, error)
}

// WriteTx is what the operations of this package do in a transaction.
type WriteTx interface {
	Tx

	// InsertTask reports whether the id was free. One of a deleted task or session of
	// another workspace is [ErrConflict].
	InsertTask(ctx context.Context, t Task) (inserted bool, err error)

	// Task returns [ErrNotFound] when there is none.
	Task(ctx context.Context, id string) (Task, error)

	// UpdateTask writes title, description, archived, primary session and time of t.
	UpdateTask(ctx context.Context, t Task) error

	// TaskHasSession reports whether a session is of a task.
	TaskHasSession(ctx context.Context, taskID, sessionID string) (bool, error)
}

// Service is the set of operations on tasks.
type Service struct {
	store    Store
	now      domain.Clock
	announce *event.Announcer
}

// NewService returns a Service on store.
func NewService(store Store, now domain.Clock, announce *event.Announcer) *Service {
	return &Service{store, now, announce}
}

// Get returns a task, or [ErrNotFound].
func (s *Service) Get(ctx context.Context, id string) (Task, error) { return s.store.Task(ctx, id) }
