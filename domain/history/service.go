package history

import (
	"context"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// Store keeps transcripts and file changes. Package storetest holds what every Store
// must do.
type Store interface {
	// InTx runs fn in one read-write transaction about one task, committing if fn
	// returns nil and rolling back otherwise. fn may run again: it leaves no mark
	// but through tx.
	InTx(ctx context.Context, taskID string, fn func(ctx context.Context, tx WriteTx) error) error

	// InRead runs fn on one consistent state of the store. fn may run again.
	InRead(ctx context.Context, fn func(ctx context.Context, tx ReadTx) error) error

	// FileChange returns a change with its texts, and the session it was made in,
	// nil when that is gone, or [ErrFileChangeNotFound].
	FileChange(ctx context.Context, id string) (FileChange, *session.Session, error)
}

// WriteTx is what the operations on a transcript do in a transaction.
type WriteTx interface {
	task.Tx
	session.Locker
	subagent.Binder
	appendTx
	completeTx
	editTx
	framesTx
}

type appendTx interface {
	// PriorMessages returns those of ids that exist, in any session of any task.
	PriorMessages(ctx context.Context, ids []string) ([]PriorMessage, error)

	// CountTurns counts those of ids that are turns of a session.
	CountTurns(ctx context.Context, sessionID string, ids []string) (int, error)

	// RootWorkspace returns the workspace of the main session that a session goes
	// back to through its parents (HI-8), or "" when there is none.
	RootWorkspace(ctx context.Context, sessionID string) (string, error)

	// AppendMessages stores messages, whose seqs are the next of their session, with
	// their file changes. An id that was taken meanwhile, by another task whose lock
	// is not held, is [session.ErrMessageConflict].
	AppendMessages(ctx context.Context, sessionID string, messages []session.Message, changes []FileChange) error
}

type editTx interface {
	// Message returns a message of any task, also one that was rolled back, or
	// [session.ErrMessageNotFound].
	Message(ctx context.Context, id string) (session.Message, error)

	// UpdateMessages writes content, thinking, turn, metadata, sanitized, request
	// fingerprint and time of messages of one session.
	UpdateMessages(ctx context.Context, messages []session.Message) error

	// DeleteMessages marks the messages of a session from a seq on as deleted, and
	// returns how many were not.
	DeleteMessages(ctx context.Context, sessionID string, fromSeq int64, at time.Time) (int, error)
}

// Service is the set of operations on transcripts and what they show.
type Service struct {
	store    Store
	now      domain.Clock
	announce *event.Announcer
	tools    []string
	contexts ContextRecorder // nil to record none
}

// NewService returns a Service on store. delegationTools are the tools whose calls
// delegate to a subagent, as in [subagent.DefaultDelegationTools] (HI-6).
func NewService(store Store, now domain.Clock, announce *event.Announcer, delegationTools []string) *Service {
	return &Service{store: store, now: now, announce: announce, tools: delegationTools}
}

// mutate is [task.Mutate] on the store of this package.
func (s *Service) mutate(ctx context.Context, taskID string, decide func(ctx context.Context, tx WriteTx, t task.Task) (*event.Change, error)) error {
	return task.Mutate(ctx, s.store.InTx, s.announce, taskID, decide)
}
