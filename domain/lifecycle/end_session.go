package lifecycle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// UpdateSession changes a session and answers it as it is then. A patch to a
// terminal state ends its running turns in the same state, its own run and those it
// delegated (HI-10). Its pending deliveries stay, visible and not reservable (DL-10).
func (s *Service) UpdateSession(ctx context.Context, taskID, id string, p session.Patch) (session.Session, error) {
	if !p.Ends() {
		return s.sessions.Update(ctx, taskID, id, p)
	}
	if err := p.Validate(); err != nil {
		return session.Session{}, err
	}
	var ended session.Session
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, _ task.Task) (*event.Change, error) {
		prior, err := tx.LockSession(ctx, taskID, id)
		if err != nil {
			return nil, err
		}
		if ended, err = p.Apply(prior); err != nil {
			return nil, err
		}
		now := s.now()
		runs, err := subagent.EndRunning(ctx, tx, id, subagent.ExecutionStatus(ended.State), now)
		if err != nil {
			return nil, err
		}
		if err := tx.EndTurns(ctx, id, session.TurnState(ended.State), now); err != nil {
			return nil, err
		}
		ended.UpdatedAt = now
		return &event.Change{Task: true, Sessions: withQueue(runs, prior, ended)}, tx.UpdateSession(ctx, ended)
	})
	if err != nil {
		return session.Session{}, fmt.Errorf("end session %s: %w", id, err)
	}
	return ended, nil
}

// withQueue adds to what ended that the queue shows another auto_run, where it does.
func withQueue(changes []event.SessionChange, prior, ended session.Session) []event.SessionChange {
	if prior.AutoRun == ended.AutoRun {
		return changes
	}
	return withQueueOf(changes, ended.ID)
}

// withQueueOf adds to what ended, which is in the order of ids, that the queue of a
// session has changed.
func withQueueOf(changes []event.SessionChange, id string) []event.SessionChange {
	i, known := slices.BinarySearchFunc(changes, id, func(c event.SessionChange, id string) int {
		return cmp.Compare(c.SessionID, id)
	})
	if !known {
		changes = slices.Insert(changes, i, event.SessionChange{SessionID: id})
	}
	changes[i].Queue = true
	return changes
}
