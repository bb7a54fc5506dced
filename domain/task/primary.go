package task

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// ErrSessionNotFound names a primary session that is none of the task (API-23).
var ErrSessionNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "session_not_found", Detail: "There is no such session."}

// SetPrimary makes a session of the task its primary one, or, with nil, leaves
// the task without.
func (s *Service) SetPrimary(ctx context.Context, id string, sessionID *string) (Task, error) {
	t, err := s.change(ctx, id, func(ctx context.Context, tx WriteTx, t Task) (Task, error) {
		if err := t.RequireActive(); err != nil {
			return Task{}, err
		}
		if sessionID == nil {
			t.PrimarySessionID = nil
			return t, nil
		}
		if t.PrimarySessionID != nil && *t.PrimarySessionID == *sessionID {
			return t, nil
		}
		switch found, err := tx.TaskHasSession(ctx, id, *sessionID); {
		case err != nil:
			return Task{}, err
		case !found:
			return Task{}, ErrSessionNotFound
		}
		t.PrimarySessionID = sessionID
		return t, nil
	})
	if err != nil {
		return Task{}, fmt.Errorf("set primary session of task %s: %w", id, err)
	}
	return t, nil
}
