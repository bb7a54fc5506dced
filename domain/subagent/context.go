package subagent

import (
	"time"

	"gatehouse/domain/session"
)

// Context is what is known of one invocation of a subagent: structure, not content,
// and facts, not a session. It is telemetry, merged from frames, and what nobody
// reported is nil, never 0 or empty (SC-7).
//
// Its key is the session, the execution and the call. A call id is unique within one
// execution only (SC-21).
type Context struct {
	ID               string  `bun:",pk"` // of the row; never an order
	TaskSessionID    string  // the session that spawned it
	TaskID           string  // of that session
	TurnID           *string // the turn that spawned it, which may be gone
	AgentExecutionID string  // the execution that said so, or [UnknownExecution]
	ToolCallID       string  // of the launching call, as the agent gave it
	ParentToolCallID *string // set when a subagent spawned it (SC-6)
	SubagentType     *string
	Description      *string
	AgentID          *string
	ChildSessionID   *string // as reported
	Model            *string
	AgentStatus      *string // the child's own report, any word; it never settles
	ToolStatus       *string // of the launching call, any word; see [session.ToolSettled]
	IsAsync          bool
	TotalTokens      *int64
	ToolUseCount     *int64 // 0 is a real value
	DurationMS       *int64 `bun:"duration_ms"` // milliseconds
	Source           Source
	ObservedAt       time.Time  // when the frame that made the row was observed: no start time
	SettledAt        *time.Time // when a terminal ToolStatus was first observed; nil is not settled (SC-10)
	UpdatedAt        time.Time
}

// settles reports whether the launching call has ended (SC-9).
func (c Context) settles() bool { return c.ToolStatus != nil && session.ToolSettled(*c.ToolStatus) }

// UnknownExecution stands for the execution of a frame that names none. It means
// unrecorded, never shared (SC-20), and is never upgraded to a real id (SC-22).
const UnknownExecution = "unknown"

// Source says how a context came to be.
type Source string

// The sources.
const (
	SourceLive     Source = "live"     // from a frame as it came
	SourceBackfill Source = "backfill" // from a message stored before contexts were kept
)
