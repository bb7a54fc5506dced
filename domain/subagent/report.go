package subagent

import (
	"cmp"
	"time"

	"gatehouse/domain"
)

// Report is what a frame says of an invocation, as it came: "" is what it does not say.
type Report struct {
	TaskSessionID    string
	TaskID           string
	TurnID           string // what the frame says, never guessed (SC-1)
	ExecutionID      string
	ToolCallID       string
	ParentToolCallID string // of a nested invocation, recorded like any other (SC-6)
	ToolStatus       string
	ObservedAt       time.Time // else the time of receipt
	Payload          Payload
}

// identified reports whether r has an identity. Without one it leaves no row (SC-2).
func (r Report) identified() bool {
	return r.TaskSessionID != "" && r.TaskID != "" && r.ToolCallID != ""
}

// oddities are what counts beside the outcome of a frame (SC-40).
type oddities struct {
	anomalous        bool // a metric was negative
	unknownExecution bool
}

// context is the row that r makes where there is none for its key, and what it has to
// say where there is: nil is what it does not report. The statement of the store
// merges it, see [ContextStore].
func (r Report) context(now time.Time) (Context, oddities) {
	execution := ExecutionKey(r.ExecutionID)
	odd := oddities{unknownExecution: execution == UnknownExecution}
	reported := func(n *int64, least int64) *int64 {
		if n == nil || *n < 0 {
			odd.anomalous = odd.anomalous || n != nil
			return nil
		}
		if *n < least {
			return nil
		}
		return n
	}
	p := r.Payload
	c := Context{
		ID: domain.NewID(), TaskSessionID: r.TaskSessionID, TaskID: r.TaskID, TurnID: said(r.TurnID),
		AgentExecutionID: execution, ToolCallID: r.ToolCallID, ParentToolCallID: said(r.ParentToolCallID),
		SubagentType: said(p.SubagentType), Description: said(p.Description), AgentID: said(p.AgentID),
		ChildSessionID: said(p.ChildSessionID), Model: said(p.Model),
		AgentStatus: said(p.Status), ToolStatus: said(r.ToolStatus), IsAsync: p.IsAsync,
		// Of tokens and milliseconds many senders cannot tell 0 from absent; the count
		// of uses is optional on the wire, so its 0 is one (SC-5).
		TotalTokens: reported(p.TotalTokens, 1), ToolUseCount: reported(p.ToolUseCount, 0), DurationMS: reported(p.DurationMS, 1),
		Source: SourceLive, ObservedAt: r.ObservedAt, UpdatedAt: now,
	}
	if c.ObservedAt.IsZero() {
		c.ObservedAt = now
	}
	if c.settles() {
		c.SettledAt = &c.ObservedAt
	}
	return c, odd
}

// ExecutionKey is the execution of a frame as keys have it: verbatim, or
// [UnknownExecution] where the frame names none (SC-20).
func ExecutionKey(executionID string) string {
	if domain.IsBlank(executionID) {
		return UnknownExecution
	}
	return executionID
}

// said is a reported text, nil for the empty one (SC-7).
func said(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// byKey orders contexts by their keys: two writers that merge several rows in
// one order never wait for each other in a circle (SC-12).
func byKey(a, b Context) int {
	return cmp.Or(
		cmp.Compare(a.TaskSessionID, b.TaskSessionID),
		cmp.Compare(a.AgentExecutionID, b.AgentExecutionID),
		cmp.Compare(a.ToolCallID, b.ToolCallID),
	)
}
