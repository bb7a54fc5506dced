package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
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

var errReplacement = errors.New("the replacement is not a session of the task")

// admitWithHook is the admission of a direct prompt that a hook has a say in: replay,
// then under the lease replay again, preflight, hook and transaction. What the hook
// does takes time, so the transaction judges everything once more.
func (s *Service) admitWithHook(ctx context.Context, r Request) (a Admitted, n event.Notice, err error) {
	sc, err := s.store.Scene(ctx, r.query(r.SessionID))
	if err != nil {
		return Admitted{}, event.Notice{}, err
	}
	if sc.Prior != nil { // a retry waits for nobody's hook
		a, n = replay(sc)
		return a, n, sc.Prior.checkReplay(r.fingerprint())
	}
	err = s.lease.WithLease(ctx, r.TaskID, func(ctx context.Context) error {
		sc, err := s.store.Scene(ctx, r.query(r.SessionID))
		if err != nil {
			return err
		}
		if sc.Prior != nil {
			a, n = replay(sc)
			return sc.Prior.checkReplay(r.fingerprint())
		}
		sc.Capacity = s.capacity
		would, err := decide(r, sc, s.now())
		if err != nil {
			return err
		}
		replacement, err := s.askHook(ctx, r, would.Delivery.Content)
		if err != nil {
			return err
		}
		a, n, err = s.transactInstead(ctx, r, replacement)
		return err
	})
	return a, n, err
}

// askHook returns the session that is to get a prompt, or a [HookError].
func (s *Service) askHook(ctx context.Context, r Request, text string) (sessionID string, err error) {
	replacement, err := s.hook.BeforeTurn(ctx, TurnStart{
		TaskID:         r.TaskID,
		SessionID:      r.SessionID,
		ClientID:       r.ClientID,
		Content:        text,
		Refs:           r.Refs,
		RequirePrimary: r.RequirePrimary,
		PlanMode:       r.PlanMode,
		Model:          r.Model,
		AttachmentIDs:  r.AttachmentIDs,
		Metadata:       r.Metadata,
	})
	switch {
	case err != nil:
		return "", &HookError{err}
	case replacement == nil:
		return r.SessionID, nil
	}
	id, ok := domain.ParseID(*replacement)
	if !ok {
		return "", &HookError{errReplacement}
	}
	return id, nil
}

// transactInstead is transact after a hook, which may have named another session. The
// state that the caller expects is that of the session it knew, which the preflight
// has seen; a replacement only has to take the prompt.
func (s *Service) transactInstead(ctx context.Context, r Request, sessionID string) (Admitted, event.Notice, error) {
	if sessionID == r.SessionID {
		return s.transact(ctx, r, sessionID)
	}
	r.ExpectedState = nil
	a, n, err := s.transact(ctx, r, sessionID)
	if errors.Is(err, session.ErrNotFound) {
		err = &HookError{errReplacement}
	}
	return a, n, err
}
