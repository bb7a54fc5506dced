package prompt

import (
	"context"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Store keeps admissions and deliveries. Package storetest holds what every Store
// must do. Its reads never wait for a transaction.
type Store interface {
	AttachmentStore

	// Admit reads the scene of an admission under its locks (task row, then session
	// row), lets decide judge it, and writes what decide accepts, all in one
	// transaction. When decide returns nil or an error, nothing is written. decide may
	// run again: it changes nothing but its result. A task that does not exist is
	// [task.ErrNotFound].
	//
	// It is the whole transaction in one call, so that a database can be asked for
	// everything in one round trip and told everything in another.
	Admit(ctx context.Context, q SceneQuery, decide func(Scene) (*Acceptance, error)) error

	// Scene reads the scene of an admission without locks, in one consistent state, and
	// waits for no transaction. A task that does not exist is [task.ErrNotFound].
	Scene(ctx context.Context, q SceneQuery) (Scene, error)

	// InTx runs fn in one read-write transaction about one task, committing if fn
	// returns nil and rolling back otherwise. fn may run again: it leaves no mark
	// but through tx.
	InTx(ctx context.Context, taskID string, fn func(ctx context.Context, tx Tx) error) error

	// Receipt returns [ErrAdmissionNotFound] when the client id was not used.
	Receipt(ctx context.Context, taskID, clientID string) (Receipt, error)

	// Delivery returns [ErrDeliveryNotFound] when there is none.
	Delivery(ctx context.Context, id string) (Delivery, error)

	// Queue returns what a session of a task is owed, with its numbers, all of one
	// state of the database, or [session.ErrNotFound]. Its capacity is not stored.
	Queue(ctx context.Context, taskID, sessionID string) (Queue, error)

	// Route returns the primary session of a task, nil when it has none.
	Route(ctx context.Context, taskID string) (*Route, error)

	// Deliveries returns at most limit deliveries of a task, oldest first, in one
	// state when state is not nil, and behind after when that is not nil.
	Deliveries(ctx context.Context, taskID string, state *State, after *domain.Position, limit int) ([]Delivery, error)

	Watcher
	Overseer
}

// Watcher is the part of a store that a reserve looks at while it waits.
type Watcher interface {
	// Watch reads the [Watch] of a session of a task, or [session.ErrNotFound].
	Watch(ctx context.Context, taskID, sessionID string) (Watch, error)
}

// Overseer is the part of a store that looks over the deliveries of all tasks.
type Overseer interface {
	// Now is the time by the clock that judges leases, the database's (OP-3).
	Now(ctx context.Context) (time.Time, error)

	// Overdue returns at most limit deliveries in a state, [StateReserved] or
	// [StateAttempted], whose lease ends or which were attempted at before or earlier:
	// the oldest first, behind after when it is not nil. The sources of a combination
	// are none of them: they follow it.
	Overdue(ctx context.Context, state State, before time.Time, after *domain.Position, limit int) ([]Overdue, error)

	// Backlog reads what is owed to all sessions.
	Backlog(ctx context.Context) (Backlog, error)
}

// SceneQuery says what an admission has to look at.
type SceneQuery struct {
	TaskID    string
	SessionID string // that is to get the prompt
	ClientID  string
	Primary   bool // the task's primary session

	AttachmentIDs []string // none: nothing of attachments is read
}

// Tx is what the steps of a delivery do in a transaction. LockTask comes first,
// then LockSession.
type Tx interface {
	task.Tx
	session.Locker
	Receipts
	Entries
	Sources
	Turns
	Transcript
	Staging

	// Now is the time by the clock that judges leases, the database's (OP-3).
	Now(ctx context.Context) (time.Time, error)

	// SaveSession writes state, numbers and time of s.
	SaveSession(ctx context.Context, s session.Session) error
}

// Receipts is the part of a transaction that reads and writes deliveries.
type Receipts interface {
	// Delivery returns a delivery of a task, or [ErrDeliveryNotFound].
	Delivery(ctx context.Context, taskID, id string) (Delivery, error)

	// Next returns the delivery of a session that is reserved, its lease expired or
	// not, and the pending one with the lowest position. Nil is none.
	Next(ctx context.Context, sessionID string) (reserved, pending *Delivery, err error)

	// UpdateDelivery writes d where the stored state is from. Where it is not, it
	// fails: under the lock that is a defect.
	UpdateDelivery(ctx context.Context, d Delivery, from State) error
}

// Entries is the part of a transaction that changes what waits in a queue.
type Entries interface {
	// Unfinished returns what a session is owed, in order of position.
	Unfinished(ctx context.Context, sessionID string) ([]Delivery, error)

	// InsertDelivery stores a delivery that no client id admits, in whatever state.
	InsertDelivery(ctx context.Context, d Delivery) error

	// RewriteEntry writes content, version and time of a pending delivery.
	RewriteEntry(ctx context.Context, d Delivery) error

	// PlaceEntries writes position and time of pending deliveries.
	PlaceEntries(ctx context.Context, entries []Delivery) error
}

// Sources is the part of a transaction that finds what a combination was made of.
type Sources interface {
	// Sources returns the deliveries that are combined into one, in order of position.
	Sources(ctx context.Context, combinationID string) ([]Delivery, error)
}

// Turns is the part of a transaction that starts and ends the turns of attempts.
type Turns interface {
	// InsertTurn reports whether the id was free.
	InsertTurn(ctx context.Context, t session.Turn) (inserted bool, err error)

	// EndTurn ends a turn that is running. One that is not stays as it is.
	EndTurn(ctx context.Context, id string, state session.TurnState, at time.Time) error

	// RunningTurns counts the turns of a session that have not ended.
	RunningTurns(ctx context.Context, sessionID string) (int, error)

	// RequestInterrupt marks those turns, for their runners to stop them, and reports
	// whether one was not marked yet.
	RequestInterrupt(ctx context.Context, sessionID string) (changed bool, err error)
}

// Transcript is the part of a transaction that writes the rows of prompts.
type Transcript interface {
	// AppendMessage stores a message. Its sequence number is the session's next.
	AppendMessage(ctx context.Context, m session.Message) error
}
