package access

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// CreateWorkspace makes a workspace. A name that exists is [ErrWorkspaceConflict].
func (s *Service) CreateWorkspace(ctx context.Context, name string) (Workspace, error) {
	var p domain.Problems
	if domain.IsBlank(name) {
		p.Add("/body/name", domain.ProblemBlank, "must not be blank")
	}
	domain.CheckText(&p, "/body/name", name, domain.MaxShortText)
	if err := p.Err(); err != nil {
		return Workspace{}, err
	}
	w := Workspace{ID: domain.NewID(), Name: name, CreatedAt: s.now()}
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		inserted, err := tx.InsertWorkspace(ctx, w)
		if err == nil && !inserted {
			return ErrWorkspaceConflict
		}
		return err
	})
	if err != nil {
		return Workspace{}, fmt.Errorf("create workspace: %w", err)
	}
	return w, nil
}

// Workspace returns a workspace, or [ErrWorkspaceNotFound].
func (s *Service) Workspace(ctx context.Context, id string) (Workspace, error) {
	return s.store.Workspace(ctx, id)
}

// WorkspaceNamed returns the workspace of a name, or [ErrWorkspaceNotFound].
func (s *Service) WorkspaceNamed(ctx context.Context, name string) (Workspace, error) {
	return s.store.WorkspaceNamed(ctx, name)
}

// Workspaces returns one page of the workspaces, oldest first.
func (s *Service) Workspaces(ctx context.Context, r domain.PageRequest) (domain.Page[Workspace], error) {
	page, err := domain.ReadPage(r, "workspaces",
		func(after *domain.Position, limit int) ([]Workspace, error) {
			return s.store.Workspaces(ctx, after, limit)
		},
		func(w Workspace) domain.Position { return domain.Position{At: w.CreatedAt, ID: w.ID} })
	if err != nil {
		return domain.Page[Workspace]{}, fmt.Errorf("list workspaces: %w", err)
	}
	return page, nil
}
