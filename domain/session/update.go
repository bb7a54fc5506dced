package session

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Patch changes a session. A nil field stays as it is (API-5).
type Patch struct {
	Title   *string
	AutoRun *bool
	State   *State // by a runner

	// WorkspacePath counts where none is known: the record of a transcript may be told
	// it late (HI-30).
	WorkspacePath *string
}

// Validate reports what is wrong with p on its own.
func (p Patch) Validate() error {
	var problems domain.Problems
	if p.Title != nil {
		domain.CheckText(&problems, "/body/title", *p.Title, domain.MaxShortText)
	}
	if p.WorkspacePath != nil {
		domain.CheckText(&problems, "/body/workspace_path", *p.WorkspacePath, domain.MaxPath)
	}
	return problems.Err()
}

// Apply returns s with p. States change freely until one is terminal, which is
// final: another state is then an [UnavailableError]. Another auto_run is a change of
// the queue (DL-11).
func (p Patch) Apply(s Session) (Session, error) {
	if p.State != nil && *p.State != s.State {
		if err := s.RequireActive(); err != nil {
			return Session{}, err
		}
	}
	if p.Title != nil {
		s.Title = *p.Title
	}
	if p.AutoRun != nil && *p.AutoRun != s.AutoRun {
		s.AutoRun = *p.AutoRun
		s.QueueRevision++
	}
	if p.State != nil {
		s.State = *p.State
	}
	if s.WorkspacePath == nil {
		s.WorkspacePath = p.WorkspacePath
	}
	return s, nil
}

// Ends reports whether p asks for a terminal state. Such a patch cuts across turns
// and executions: package lifecycle carries it out.
func (p Patch) Ends() bool { return p.State != nil && p.State.Terminal() }

// Update changes a session by a patch that does not end it, and answers it as it
// is then. A patch that changes nothing writes nothing.
func (s *Service) Update(ctx context.Context, taskID, id string, p Patch) (Session, error) {
	if err := p.Validate(); err != nil {
		return Session{}, err
	}
	var changed Session
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		prior, err := tx.LockSession(ctx, taskID, id)
		if err != nil {
			return nil, err
		}
		if changed, err = p.Apply(prior); err != nil || changed == prior {
			return nil, err
		}
		changed.UpdatedAt = s.now()
		if err := tx.UpdateSession(ctx, changed); err != nil {
			return nil, err
		}
		return &event.Change{Task: true, Sessions: queueChange(prior, changed)}, nil
	})
	if err != nil {
		return Session{}, fmt.Errorf("update session %s: %w", id, err)
	}
	return changed, nil
}

// queueChange tells who lists the queue when its auto_run has changed.
func queueChange(prior, changed Session) []event.SessionChange {
	if prior.AutoRun == changed.AutoRun {
		return nil
	}
	return []event.SessionChange{{SessionID: changed.ID, Queue: true}}
}
