package prompt

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// Delivery returns a delivery in its present state, or [ErrDeliveryNotFound].
func (s *Service) Delivery(ctx context.Context, id string) (Delivery, error) {
	return s.store.Delivery(ctx, id)
}

// Deliveries returns one page of a task's deliveries, oldest first, in one state or,
// with nil, in all.
func (s *Service) Deliveries(ctx context.Context, taskID string, state *State, r domain.PageRequest) (domain.Page[Delivery], error) {
	page, err := domain.ReadPage(r, "deliveries/"+taskID,
		func(after *domain.Position, limit int) ([]Delivery, error) {
			return s.store.Deliveries(ctx, taskID, state, after, limit)
		},
		func(d Delivery) domain.Position { return domain.Position{At: d.CreatedAt, ID: d.ID} })
	if err != nil {
		return domain.Page[Delivery]{}, fmt.Errorf("list deliveries of task %s: %w", taskID, err)
	}
	return page, nil
}
