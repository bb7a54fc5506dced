package claudecode

import (
	"context"
	"time"
)

// Sink is told what transcripts hold. The task comes first, then its main session;
// a session comes before its turns, a turn before its messages, and the messages
// of a subagent between the start and the end of the execution they belong to.
// What a sink knows already it may be told again. An error ends the transcript.
type Sink interface {
	Task(ctx context.Context, t Task) error
	Session(ctx context.Context, s Session) error
	// SessionState says where a session stands behind its last message.
	SessionState(ctx context.Context, s SessionState) error
	// Turn begins a turn as running, and is called again when it has ended.
	Turn(ctx context.Context, t Turn) error
	Message(ctx context.Context, m Message) error
	ExecutionStart(ctx context.Context, e ExecutionStart) error
	ExecutionEnd(ctx context.Context, e ExecutionEnd) error
}

// State is where a session, a turn or an execution stands.
type State string

// The states. A main session waits for input in the end.
const (
	StateRunning         State = "running"
	StateCompleted       State = "completed"
	StateFailed          State = "failed"
	StateCancelled       State = "cancelled"
	StateWaitingForInput State = "waiting_for_input"
)

// Task is the work of one transcript.
type Task struct {
	ID        string
	Title     string    // the summary of the transcript, else the start of its first prompt
	Formerly  []string  // titles that it may have had when less of it was there
	CreatedAt time.Time // of its first line; zero when no line tells
}

// Kind says what a session is for.
type Kind string

// The kinds of session a transcript knows.
const (
	KindMain     Kind = "main"
	KindSubagent Kind = "subagent"
)

// Session is the conversation of one agent.
type Session struct {
	ID            string
	TaskID        string
	Kind          Kind
	ParentID      string // of a subagent: the session that first called it
	AgentID       string // of a subagent: its name in the transcript
	AgentType     string // of a subagent, when known
	Title         string
	WorkspacePath string // where the agent began to work, when known
}

// SessionState says where a session stands.
type SessionState struct {
	ID    string
	State State
}

// Turn is a prompt and the work it led to.
type Turn struct {
	ID        string
	SessionID string
	State     State
	At        time.Time // of its prompt; of its end when it has ended
}

// Role says who speaks in a message.
type Role string

// The roles. The system speaks where the program put words into the conversation
// that nobody typed.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleSystem    Role = "system"
)

// Type tells a message of the conversation from a notice beside it.
type Type string

// The types of message.
const (
	TypeMessage Type = "message"
	TypeNotice  Type = "notice"
)

// Message is one entry of a conversation, in file order.
type Message struct {
	ID          string
	SessionID   string
	TurnID      string // empty before the first prompt
	Role        Role
	Type        Type
	Content     string
	Thinking    string
	ToolCalls   []ToolCall
	ToolCallID  string         // of a tool's message: the call it answers
	Metadata    map[string]any // never nil
	Place       Place          // of its first line
	CreatedAt   time.Time      // zero when no line up to it tells
	FileChanges []FileChange   // of the calls of this message
	// Settled is false when the file ends before it is sure that nothing is added:
	// a grown file may then give the same message with more content, more calls or
	// the changes of calls whose results are not there yet.
	Settled bool
}

// Place is where something stands in a file.
type Place struct {
	File string
	Line int // from 1
}

// ToolCall is one call of a tool by an assistant message.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON
	Summary   string // a few words on what it does, may be empty
}

// ChangeType says what became of a file.
type ChangeType string

// The types of change that transcripts record.
const (
	Created  ChangeType = "CREATED"
	Modified ChangeType = "MODIFIED"
)

// FileChange is what one successful call did to one file: whole texts where they
// are known, else a patch (HI-32). A modified file with After alone was written over
// without that anybody knew what was there.
type FileChange struct {
	Path         string // as reported
	OldPath      string
	ChangeType   ChangeType
	Before       *string // nil for a new file, and when it is not known
	After        *string
	Patch        *string // instead of Before and After
	LinesAdded   *int64  // of a patch; nil when not known
	LinesDeleted *int64  // of a patch; nil when not known
	ToolCallID   string
}

// ExecutionStart is told right before the messages of a run of a subagent.
type ExecutionStart struct {
	ID              string
	ParentSessionID string
	ParentMessageID string // carries the call
	ParentTurnID    string
	ParentToolCall  string // the id of the call
	ChildSessionID  string
	AgentID         string
	AgentType       string
	Description     string
	Tool            string
	Place           Place // of the line of the call
	Async           bool  // launched in the background
	At              time.Time
}

// ExecutionEnd is told behind the messages of a run that has ended. A run that
// never reported an end gets none.
type ExecutionEnd struct {
	ID             string
	ChildSessionID string
	Status         State // completed, failed or cancelled
	Metrics        Metrics
	At             time.Time
}

// Metrics is what a finished run reported of itself, and the model of its answers. What it did not report is nil.
type Metrics struct {
	Model       string
	TotalTokens *int64
	ToolUses    *int64
	DurationMS  *int64
}
