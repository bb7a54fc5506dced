// Package lifecycle holds the operations that cut across: to end, reset or delete a
// session, and to delete a task, with all that hangs on them.
package lifecycle

import (
	"context"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// Store runs the transactions of this package. Package storetest holds what every
// Store must do.
type Store interface {
	// InTx runs fn in one read-write transaction about one task, committing if fn
	// returns nil and rolling back otherwise. fn may run again: it leaves no mark
	// but through tx.
	InTx(ctx context.Context, taskID string, fn func(ctx context.Context, tx Tx) error) error
}

// Tx is what the operations of this package do in a transaction.
type Tx interface {
	task.Tx
	subagent.ExecutionEnder
	prompt.Abandoner

	// UpdateSession writes title, auto_run, state, incarnation, queue revision and time
	// of s.
	UpdateSession(ctx context.Context, s session.Session) error

	// EndTurns ends the turns of a session that run.
	EndTurns(ctx context.Context, sessionID string, state session.TurnState, at time.Time) error

	// DeleteSession deletes a session with its turns and messages. What it changed in
	// files stays (HI-25).
	DeleteSession(ctx context.Context, id string) error

	// SetPrimarySession makes a session the primary one of its task, or none with nil.
	SetPrimarySession(ctx context.Context, taskID string, sessionID *string) error

	// DeleteTask deletes a task with everything below it.
	DeleteTask(ctx context.Context, id string) error
}

// Service is the set of operations that cut across.
type Service struct {
	store    Store
	sessions *session.Service
	now      domain.Clock
	announce *event.Announcer
}

// NewService returns a Service on store. sessions carries out what cuts across
// nothing.
func NewService(store Store, sessions *session.Service, now domain.Clock, announce *event.Announcer) *Service {
	return &Service{store, sessions, now, announce}
}

// mutate is [task.Mutate] on the store of this package.
func (s *Service) mutate(ctx context.Context, taskID string, decide func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error)) error {
	return task.Mutate(ctx, s.store.InTx, s.announce, taskID, decide)
}
