package session

import (
	"slices"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/task"
)

// Kind says what a session is for.
type Kind string

// The kinds of session. The last two have a parent.
const (
	KindMain     Kind = "main"
	KindSubagent Kind = "subagent"
	KindSideTask Kind = "side_task"
)

// State is where a session stands.
type State string

// The states of a session. The last three are terminal and final.
const (
	StateCreated         State = "created"
	StateStarting        State = "starting"
	StateRunning         State = "running"
	StateIdle            State = "idle"
	StateWaitingForInput State = "waiting_for_input"
	StateCompleted       State = "completed"
	StateFailed          State = "failed"
	StateCancelled       State = "cancelled"
)

// States lists every state.
var States = []State{
	StateCreated, StateStarting, StateRunning, StateIdle, StateWaitingForInput,
	StateCompleted, StateFailed, StateCancelled,
}

// Terminal reports whether s is final.
func (s State) Terminal() bool {
	return slices.Contains([]State{StateCompleted, StateFailed, StateCancelled}, s)
}

// Promptable reports whether a session in s takes a direct prompt.
func (s State) Promptable() bool {
	return slices.Contains([]State{StateCreated, StateIdle, StateWaitingForInput}, s)
}

// Session is one agent conversation of a task.
type Session struct {
	ID                string `bun:",pk"`
	TaskID            string
	Kind              Kind
	ParentSessionID   *string // of a subagent or side task
	AgentType         *string // at most 500 bytes
	Title             string  // at most 500 bytes, may be empty
	WorkspacePath     *string // at most 4 KiB
	State             State
	AutoRun           bool   // whether pending deliveries are handed out
	IncarnationID     string // a new one with every reset
	LastMessageSeq    int64  // of the last message, deleted ones included; 0 when there is none
	LastPosition      int64  // of the last delivery, never given twice
	QueueRevision     int64  // +1 per change of the queue (DL-11)
	CreateFingerprint string // of the request that made it (API-8)
	QueueSeq          int64  // the change that last touched its queue (EV-1)
	MessagesSeq       int64  // … its messages
	ExecutionsSeq     int64  // … its subagent executions
	InterruptSeq      int64  // … that its turns are asked to stop (DL-8)
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// RequireActive is an [UnavailableError] for a terminal session, to which nothing is
// added any more.
func (s Session) RequireActive() error {
	if s.State.Terminal() {
		return s.Unavailable(ReasonTerminal)
	}
	return nil
}

// RequireIncarnation is [ErrReplaced] when s is not the expected incarnation. Nil
// expects nothing.
func (s Session) RequireIncarnation(expected *string) error {
	if expected != nil && *expected != s.IncarnationID {
		return ErrReplaced
	}
	return nil
}

// Unavailable is the [UnavailableError] that s cannot take something, for a reason.
func (s Session) Unavailable(reason string) error {
	return &UnavailableError{s.ID, s.State, reason}
}

// Reasons of an [UnavailableError].
const (
	ReasonBusy              = "busy"
	ReasonPendingDeliveries = "pending_deliveries"
	ReasonTerminal          = "terminal"
	ReasonChanged           = "changed"
)

// Failures of this package.
var (
	ErrNotFound     = task.ErrSessionNotFound
	ErrConflict     = &domain.Error{Kind: domain.KindConflict, Code: "session_conflict", Detail: "The id belongs to another session."}
	ErrUnavailable  = &domain.Error{Kind: domain.KindConflict, Code: "session_unavailable", Detail: "The session cannot take this now; reason says why."}
	ErrReplaced     = &domain.Error{Kind: domain.KindConflict, Code: "session_replaced", Detail: "The session was reset; it has another incarnation now."}
	ErrTurnNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "turn_not_found", Detail: "There is no such turn."}
	ErrTurnConflict = &domain.Error{Kind: domain.KindConflict, Code: "turn_conflict", Detail: "The id belongs to another turn."}
)

// UnavailableError is [ErrUnavailable] with the session as it is.
type UnavailableError struct {
	SessionID string
	State     State
	Reason    string // one of the Reason constants
}

// Error implements error.
func (e *UnavailableError) Error() string { return ErrUnavailable.Code + ": " + e.Reason }

// Unwrap makes it match the sentinel.
func (e *UnavailableError) Unwrap() error { return ErrUnavailable }
