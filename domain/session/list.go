package session

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// List returns one page of a task's sessions, oldest first.
func (s *Service) List(ctx context.Context, taskID string, r domain.PageRequest) (domain.Page[Session], error) {
	page, err := domain.ReadPage(r, "sessions/"+taskID,
		func(after *domain.Position, limit int) ([]Session, error) {
			return s.store.Sessions(ctx, taskID, after, limit)
		},
		func(s Session) domain.Position { return domain.Position{At: s.CreatedAt, ID: s.ID} })
	if err != nil {
		return domain.Page[Session]{}, fmt.Errorf("list sessions of task %s: %w", taskID, err)
	}
	return page, nil
}

// Turns returns one page of a session's turns, oldest first.
func (s *Service) Turns(ctx context.Context, sessionID string, r domain.PageRequest) (domain.Page[Turn], error) {
	page, err := domain.ReadPage(r, "turns/"+sessionID,
		func(after *domain.Position, limit int) ([]Turn, error) {
			return s.store.Turns(ctx, sessionID, after, limit)
		},
		func(t Turn) domain.Position { return domain.Position{At: t.StartedAt, ID: t.ID} })
	if err != nil {
		return domain.Page[Turn]{}, fmt.Errorf("list turns of session %s: %w", sessionID, err)
	}
	return page, nil
}
