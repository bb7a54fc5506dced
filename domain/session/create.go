package session

import (
	"context"
	"errors"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// New asks for a session of a task.
type New struct {
	ID              string // the caller's, or "" for one of ours
	TaskID          string
	Kind            Kind
	ParentSessionID *string // of a subagent or side task, a session of the same task
	AgentType       *string // at most 500 bytes
	Title           string  // at most 500 bytes
	WorkspacePath   *string // at most 4 KiB
}

func (n New) validate() error {
	var p domain.Problems
	switch {
	case n.Kind == KindMain && n.ParentSessionID != nil:
		p.Add("/body/parent_session_id", domain.ProblemConflict, "must be absent for a main session")
	case n.Kind != KindMain && n.ParentSessionID == nil:
		p.Add("/body/parent_session_id", domain.ProblemRequired, "is required for a session of this kind")
	}
	domain.CheckText(&p, "/body/title", n.Title, domain.MaxShortText)
	if n.AgentType != nil {
		domain.CheckText(&p, "/body/agent_type", *n.AgentType, domain.MaxShortText)
	}
	if n.WorkspacePath != nil {
		domain.CheckText(&p, "/body/workspace_path", *n.WorkspacePath, domain.MaxPath)
	}
	return p.Err()
}

// Create makes a session in state created. The first main session of a task that
// has no primary one becomes it. A caller's id that exists is judged as API-8 says:
// the same request answers the session as it is, another one is [ErrConflict].
func (s *Service) Create(ctx context.Context, n New) (made Session, created bool, err error) {
	if err := n.validate(); err != nil {
		return Session{}, false, err
	}
	fresh := s.fresh(n)
	err = s.mutate(ctx, n.TaskID, func(ctx context.Context, tx WriteTx, t task.Task) (*event.Change, error) {
		made, created = fresh, false
		switch prior, err := tx.Session(ctx, fresh.ID); {
		case err == nil && prior.CreateFingerprint == fresh.CreateFingerprint:
			made = prior
			return nil, nil
		case err == nil:
			return nil, ErrConflict
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
		if err := t.RequireActive(); err != nil {
			return nil, err
		}
		if n.ParentSessionID != nil {
			if _, err := tx.LockSession(ctx, n.TaskID, *n.ParentSessionID); err != nil {
				return nil, err
			}
		}
		made.QueueSeq, made.MessagesSeq = t.ChangeSeq+1, t.ChangeSeq+1 // what is new is told to who comes back
		if created, err = tx.InsertSession(ctx, made); err != nil {
			return nil, err
		}
		if !created {
			return nil, ErrConflict // taken by another task, whose lock is not ours
		}
		if fresh.Kind == KindMain && t.PrimarySessionID == nil {
			if err := tx.SetPrimarySession(ctx, t.ID, &fresh.ID); err != nil {
				return nil, err
			}
		}
		return &event.Change{Task: true, Sessions: []event.SessionChange{{SessionID: fresh.ID, Queue: true, Messages: true}}}, nil
	})
	if err != nil {
		return Session{}, false, fmt.Errorf("create session: %w", err)
	}
	return made, created, nil
}

// fresh is the session that n asks for.
func (s *Service) fresh(n New) Session {
	now := s.now()
	id := n.ID
	if id == "" {
		id = domain.NewID()
	}
	n.ID = ""
	return Session{
		ID:                id,
		TaskID:            n.TaskID,
		Kind:              n.Kind,
		ParentSessionID:   n.ParentSessionID,
		AgentType:         n.AgentType,
		Title:             n.Title,
		WorkspacePath:     n.WorkspacePath,
		State:             StateCreated,
		AutoRun:           true,
		IncarnationID:     domain.NewID(),
		CreateFingerprint: domain.Fingerprint(n),
		CreatedAt:         now,
		UpdatedAt:         now,
	}
}
