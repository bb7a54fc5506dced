package history

import (
	"context"
	"time"

	"gatehouse/domain/session"
)

// ReadTx is what reading a history asks of one consistent state of the store. Each
// method costs a number of statements that does not depend on what there is (HI-23).
type ReadTx interface {
	// Session returns [session.ErrNotFound] when there is none.
	Session(ctx context.Context, id string) (session.Session, error)

	// Window returns a session and a stretch of its messages, or
	// [session.ErrNotFound].
	Window(ctx context.Context, sessionID string, w Window) (View, error)

	// Work returns what was done on the messages of a session from first to last:
	// its own file changes and the runs it delegated, nested ones included. Texts
	// come with the changes that have at most small bytes of them; a negative small
	// is for none. Messages that were rolled back, of this session but not of its
	// children, are left out (HI-4).
	Work(ctx context.Context, sessionID string, first, last, small int64) (Work, error)

	// Texts returns the texts of file changes by their ids.
	Texts(ctx context.Context, changeIDs []string) (map[string]Texts, error)
}

// Window selects a stretch of the messages of a session that were not rolled back.
// At most one of Before and After is set, and exactly one of Rounds and Limit.
type Window struct {
	Before *int64 // the newest that have a smaller seq; neither: the newest of all
	After  *int64 // the oldest that have a greater seq
	Rounds int    // as many rounds, but not more than [domain.MaxPageMessages] messages
	Limit  int    // as many messages; of either, not more than [domain.MaxPageText] holds
	Brief  bool   // whether only user messages need their content, thinking, calls and metadata
}

// View is what a [Window] shows.
type View struct {
	Session    session.Session
	Messages   []session.Message // ascending by seq
	More       bool              // whether there are messages behind the window, in its direction
	Older      bool              // whether there are messages before the window
	NewerRound bool              // whether a round begins behind the window; only with Before or neither
}

// Work is what was done on a stretch of messages.
type Work struct {
	Own  []FileChange // in any order
	Runs []Run        // in any order
}

// Run is an execution as the history of its parent shows it: what the child changed
// in it (HI-2, HI-3). One that still runs changed nothing yet.
type Run struct {
	ID             string
	ParentID       string // the run in which it was delegated; its own id when the session itself did
	MessageSeq     int64  // of the message that delegated it, in the session that did
	CallOrdinal    *int   // of the call in that message
	StartedAt      time.Time
	ChildSessionID string
	AgentType      *string
	Changes        []FileChange // in any order
}

// Texts are the texts of a file change.
type Texts struct{ Before, After, Patch *string }
