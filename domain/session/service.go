package session

import (
	"context"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Locker locks a session row, always behind its task row (30, Locks).
type Locker interface {
	// LockSession returns a session of a task, or [ErrNotFound]. The transaction
	// holds the task row lock.
	LockSession(ctx context.Context, taskID, id string) (Session, error)
}

// Store keeps sessions and turns. Package storetest holds what every Store must do.
type Store interface {
	// InTx runs fn in one read-write transaction about one task, committing if fn
	// returns nil and rolling back otherwise. fn may run again: it leaves no mark
	// but through tx.
	InTx(ctx context.Context, taskID string, fn func(ctx context.Context, tx WriteTx) error) error

	// Session returns [ErrNotFound] when there is none.
	Session(ctx context.Context, id string) (Session, error)

	// Sessions returns at most limit sessions of a task, oldest first, behind
	// after when it is not nil.
	Sessions(ctx context.Context, taskID string, after *domain.Position, limit int) ([]Session, error)

	// Turns returns at most limit turns of a session, likewise.
	Turns(ctx context.Context, sessionID string, after *domain.Position, limit int) ([]Turn, error)
}

// WriteTx is what the operations of this package do in a transaction.
type WriteTx interface {
	task.Tx
	Locker
	recordTx

	// InsertSession reports whether the id was free. One of a deleted session whose
	// task lives, or of another workspace, is [ErrConflict].
	InsertSession(ctx context.Context, s Session) (inserted bool, err error)

	// Session returns a session of any task, or [ErrNotFound].
	Session(ctx context.Context, id string) (Session, error)

	// UpdateSession writes title, auto_run, state, incarnation, queue revision and time
	// of s.
	UpdateSession(ctx context.Context, s Session) error

	// SetPrimarySession makes a session the primary one of its task, or none with nil.
	SetPrimarySession(ctx context.Context, taskID string, sessionID *string) error

	// InsertTurn reports whether the id was free.
	InsertTurn(ctx context.Context, t Turn) (inserted bool, err error)

	// Turn returns a turn of any task, or [ErrTurnNotFound].
	Turn(ctx context.Context, id string) (Turn, error)

	// UpdateTurn writes the state and end of t.
	UpdateTurn(ctx context.Context, t Turn) error

	DeleteTurn(ctx context.Context, id string) error

	// RunningTurns counts the turns of a session that have not ended.
	RunningTurns(ctx context.Context, sessionID string) (int, error)
}

// Service is the set of operations on sessions and turns.
type Service struct {
	store    Store
	now      domain.Clock
	announce *event.Announcer
}

// NewService returns a Service on store.
func NewService(store Store, now domain.Clock, announce *event.Announcer) *Service {
	return &Service{store, now, announce}
}

// Get returns a session, or [ErrNotFound].
func (s *Service) Get(ctx context.Context, id string) (Session, error) {
	return s.store.Session(ctx, id)
}

// mutate is [task.Mutate] on the store of this package.
func (s *Service) mutate(ctx context.Context, taskID string, decide func(ctx context.Context, tx WriteTx, t task.Task) (*event.Change, error)) error {
	return task.Mutate(ctx, s.store.InTx, s.announce, taskID, decide)
}
