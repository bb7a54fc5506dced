package prompt

import (
	"context"
	"encoding/json"
	"fmt"

	"gatehouse/domain/plan"
)

// Hook is asked before a direct prompt is admitted: the moment to prepare what the
// turn needs, to put another session in the place of the one that was named, or to
// refuse.
//
// It runs under the lease of the task and outside of any transaction, so what it does
// elsewhere is not undone when the admission fails after it. It may be asked again
// for one client id, never once that was admitted. With ctx it may read, and must not
// write to the task: what changes its plan and comments, and every other prompt to it,
// waits for the lease.
type Hook interface {
	// BeforeTurn returns the id of a session of the same task that is to get the prompt
	// instead, or nil. Any error refuses the prompt. Its text is logged: it must not
	// hold what people wrote.
	BeforeTurn(ctx context.Context, turn TurnStart) (replacement *string, err error)
}

// TurnStart is what a [Hook] is told of an admission that would succeed as things stand.
type TurnStart struct {
	TaskID         string
	SessionID      string // as the caller named it
	ClientID       string
	Content        string // as the agent gets it, comments rendered
	Refs           []plan.Ref
	RequirePrimary bool // a replacement then fails the admission (AD-4)
	PlanMode       bool
	Model          *string
	AttachmentIDs  []string
	Metadata       json.RawMessage // as the caller sent it, an object
}

// HookError is [ErrHook] with its cause, for the log alone: what a hook failed of is
// no answer to who sent the prompt.
type HookError struct{ Cause error }

// Error implements error.
func (e *HookError) Error() string {
	return fmt.Sprintf("%s: turn-start hook: %v", ErrHook.Code, e.Cause)
}

// Unwrap makes it match the sentinel.
func (e *HookError) Unwrap() error { return ErrHook }
