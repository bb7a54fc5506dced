package task

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// Filter selects tasks. A nil field does not restrict.
type Filter struct {
	WorkspaceID *string
	Archived    *bool
}

// List returns one page of the tasks that match f, oldest first.
func (s *Service) List(ctx context.Context, f Filter, r domain.PageRequest) (domain.Page[Task], error) {
	page, err := domain.ReadPage(r, "tasks",
		func(after *domain.Position, limit int) ([]Task, error) { return s.store.Tasks(ctx, f, after, limit) },
		func(t Task) domain.Position { return domain.Position{At: t.CreatedAt, ID: t.ID} })
	if err != nil {
		return domain.Page[Task]{}, fmt.Errorf("list tasks: %w", err)
	}
	return page, nil
}
