package lifecycle

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// ResetSession starts a session over, as another incarnation, and answers it as it is
// then. Its runs and turns end cancelled, and what the old incarnation was owed is
// given up: none of it reaches the new one (DL-9). Its transcript stays, and so does
// the numbering of its queue. With expected the session must be that incarnation.
//
// Errors: [task.ErrArchived], [session.ErrNotFound], [session.UnavailableError] for a
// terminal session, [session.ErrReplaced].
func (s *Service) ResetSession(ctx context.Context, taskID, id string, expected *string) (session.Session, error) {
	incarnation := domain.NewID()
	var reset session.Session
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error) {
		if err := t.RequireActive(); err != nil {
			return nil, err
		}
		var err error
		if reset, err = tx.LockSession(ctx, taskID, id); err != nil {
			return nil, err
		}
		if err := checkReset(reset, expected); err != nil {
			return nil, err
		}
		now := s.now()
		runs, err := subagent.EndRunning(ctx, tx, id, subagent.ExecutionCancelled, now)
		if err != nil {
			return nil, err
		}
		if _, err := prompt.Abandon(ctx, tx, taskID, id, now); err != nil {
			return nil, err
		}
		if err := tx.EndTurns(ctx, id, session.TurnCancelled, now); err != nil {
			return nil, err
		}
		reset.State, reset.IncarnationID, reset.UpdatedAt = session.StateCreated, incarnation, now
		reset.QueueRevision++
		return &event.Change{Task: true, Sessions: withQueueOf(runs, id)}, tx.UpdateSession(ctx, reset)
	})
	if err != nil {
		return session.Session{}, fmt.Errorf("reset session %s: %w", id, err)
	}
	return reset, nil
}

// checkReset judges whether a session can start over, and is the expected one.
func checkReset(s session.Session, expected *string) error {
	switch {
	case s.State.Terminal():
		return &session.UnavailableError{SessionID: s.ID, State: s.State, Reason: session.ReasonTerminal}
	case expected != nil && *expected != s.IncarnationID:
		return session.ErrReplaced
	default:
		return nil
	}
}
