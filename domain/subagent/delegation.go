package subagent

import (
	"context"
	"time"
)

// DefaultDelegationTools are the tools whose calls delegate to a subagent, unless a
// setting says otherwise (HI-6).
var DefaultDelegationTools = []string{
	"delegate", "delegate_followup", "spawn_subagent", "subagent_followup", "Task", "Agent", "task",
}

// Delegation is a call of a delegation tool, on the message that carries it.
type Delegation struct {
	SessionID  string
	MessageID  string
	MessageSeq int64
	ToolCallID string // not empty
	Ordinal    *int   // of the call among those of the message, from 0; nil when it issues no such call
}

// Binder is the part of a transaction that binds executions to messages.
type Binder interface {
	// InsertDelegations stores calls. A call id that a message carries twice is
	// stored once, as the first.
	InsertDelegations(ctx context.Context, ds []Delegation) error

	// ExecutionsOf returns the executions of a parent session that were started for the
	// call of one of ds, and are bound to its message or to none, the oldest first.
	ExecutionsOf(ctx context.Context, sessionID string, ds []Delegation) ([]Execution, error)

	// BindExecutions writes the message and time of each of es.
	BindExecutions(ctx context.Context, es []Execution) error
}

// Delegate stores the delegations of messages that were just appended to a session,
// in their order, and binds to them the executions that wait for such a message:
// each to the next one that carries its call, and no two to the same (HI-6). It
// reports whether any was bound. The transaction holds the lock of the task.
func Delegate(ctx context.Context, tx Binder, sessionID string, ds []Delegation, now time.Time) (bound bool, err error) {
	if len(ds) == 0 {
		return false, nil
	}
	if err := tx.InsertDelegations(ctx, ds); err != nil {
		return false, err
	}
	started, err := tx.ExecutionsOf(ctx, sessionID, ds)
	if err != nil || len(started) == 0 {
		return false, err
	}
	matched := match(started, ds, now)
	return len(matched) > 0, tx.BindExecutions(ctx, matched)
}

// match gives every message one of the executions that wait for its call, the oldest
// first, unless one is bound to it: a message that there was may have become one that
// issues the call.
func match(started []Execution, ds []Delegation, now time.Time) []Execution {
	queues := map[string][]Execution{}
	taken := map[[2]string]bool{}
	for _, e := range started {
		if e.ParentMessageID != nil {
			taken[[2]string{*e.ParentMessageID, *e.ParentToolCallID}] = true
			continue
		}
		queues[*e.ParentToolCallID] = append(queues[*e.ParentToolCallID], e)
	}
	var matched []Execution
	for _, d := range ds {
		key := [2]string{d.MessageID, d.ToolCallID}
		if queue := queues[d.ToolCallID]; len(queue) > 0 && !taken[key] {
			taken[key] = true
			matched = append(matched, queue[0].bind(d, now))
			queues[d.ToolCallID] = queue[1:]
		}
	}
	return matched
}
