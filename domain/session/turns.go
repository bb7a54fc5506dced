package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// StartTurn starts a turn, with the caller's id or, for "", one of ours. The
// session becomes running. A terminal session is an [UnavailableError]; an id that
// exists is judged as API-8 says.
func (s *Service) StartTurn(ctx context.Context, taskID, sessionID, id string) (turn Turn, created bool, err error) {
	if id == "" {
		id = domain.NewID()
	}
	fresh := Turn{
		ID: id, TaskID: taskID, SessionID: sessionID, State: TurnRunning,
		CreateFingerprint: domain.Fingerprint(sessionID), StartedAt: s.now(),
	}
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, t task.Task) (*event.Change, error) {
		turn, created = fresh, false
		session, err := tx.LockSession(ctx, taskID, sessionID)
		if err != nil {
			return nil, err
		}
		switch prior, err := tx.Turn(ctx, id); {
		case err == nil && prior.CreateFingerprint == fresh.CreateFingerprint:
			turn = prior
			return nil, nil
		case err == nil:
			return nil, ErrTurnConflict
		case !errors.Is(err, ErrTurnNotFound):
			return nil, err
		}
		if err := t.RequireActive(); err != nil {
			return nil, err
		}
		if err := session.RequireActive(); err != nil {
			return nil, err
		}
		if created, err = tx.InsertTurn(ctx, fresh); err != nil {
			return nil, err
		}
		if !created {
			return nil, ErrTurnConflict // taken by another task, whose lock is not ours
		}
		return &event.Change{Task: true}, s.setState(ctx, tx, session, StateRunning)
	})
	if err != nil {
		return Turn{}, false, fmt.Errorf("start turn of session %s: %w", sessionID, err)
	}
	return turn, created, nil
}

// EndTurn ends a turn in a terminal state. The end of the last running turn makes
// the session wait for input. A turn that has ended stays as it is.
func (s *Service) EndTurn(ctx context.Context, taskID, id string, state TurnState) (Turn, error) {
	var turn Turn
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		session, prior, err := lockTurn(ctx, tx, taskID, id)
		if turn = prior; err != nil || turn.State != TurnRunning {
			return nil, err
		}
		turn.State, turn.EndedAt = state, new(s.now())
		if err := tx.UpdateTurn(ctx, turn); err != nil {
			return nil, err
		}
		return &event.Change{Task: true}, s.settle(ctx, tx, session)
	})
	if err != nil {
		return Turn{}, fmt.Errorf("end turn %s: %w", id, err)
	}
	return turn, nil
}

// DeleteTurn removes a turn. Its messages and subagent contexts stay. A running
// turn ends with it.
func (s *Service) DeleteTurn(ctx context.Context, taskID, id string) error {
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		session, turn, err := lockTurn(ctx, tx, taskID, id)
		if err != nil {
			return nil, err
		}
		if err := tx.DeleteTurn(ctx, id); err != nil {
			return nil, err
		}
		if turn.State != TurnRunning {
			return &event.Change{Task: true}, nil
		}
		return &event.Change{Task: true}, s.settle(ctx, tx, session)
	})
	if err != nil {
		return fmt.Errorf("delete turn %s: %w", id, err)
	}
	return nil
}

// lockTurn locks the session of a turn and returns both.
func lockTurn(ctx context.Context, tx WriteTx, taskID, id string) (Session, Turn, error) {
	turn, err := tx.Turn(ctx, id)
	if err == nil && turn.TaskID != taskID {
		err = ErrTurnNotFound
	}
	if err != nil {
		return Session{}, Turn{}, err
	}
	session, err := tx.LockSession(ctx, taskID, turn.SessionID)
	return session, turn, err
}

// settle makes a running session wait for input when no turn of it runs any more.
func (s *Service) settle(ctx context.Context, tx WriteTx, session Session) error {
	session, changed, err := session.AfterTurn(ctx, tx, s.now())
	if err != nil || !changed {
		return err
	}
	return tx.UpdateSession(ctx, session)
}

// TurnCounter counts the turns of a session that have not ended.
type TurnCounter interface {
	RunningTurns(ctx context.Context, sessionID string) (int, error)
}

// AfterTurn is s as the end of a turn leaves it, and whether that is another state:
// a running session waits for input when no turn of it runs any more.
func (s Session) AfterTurn(ctx context.Context, turns TurnCounter, at time.Time) (after Session, changed bool, err error) {
	if s.State != StateRunning {
		return s, false, nil
	}
	running, err := turns.RunningTurns(ctx, s.ID)
	if err != nil || running > 0 {
		return s, false, err
	}
	s.State, s.UpdatedAt = StateWaitingForInput, at
	return s, true, nil
}

func (s *Service) setState(ctx context.Context, tx WriteTx, session Session, state State) error {
	if session.State == state {
		return nil
	}
	session.State, session.UpdatedAt = state, s.now()
	return tx.UpdateSession(ctx, session)
}
