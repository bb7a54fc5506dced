package access

import (
	"context"
	"fmt"
)

// Resource is a kind of thing that stands alone in a path and belongs to a task.
type Resource string

// The resources through which a request is authorised (API-22).
const (
	ResourceTask       Resource = "task"
	ResourceSession    Resource = "session"
	ResourceTurn       Resource = "turn"
	ResourceMessage    Resource = "message"
	ResourceDelivery   Resource = "delivery"
	ResourceExecution  Resource = "execution"
	ResourceFileChange Resource = "file_change"
)

// Place is where a resource belongs, for as long as it exists.
type Place struct {
	TaskID      string
	WorkspaceID string
}

// Locate tells where a resource belongs, and whether there is one. The place of a
// task or session may be remembered from before its deletion: an operation finds
// out by itself that what it works on is gone.
func (s *Service) Locate(ctx context.Context, r Resource, id string) (Place, bool, error) {
	key := resourceKey{r, id}
	if place, ok := s.places.get(key, s.now()); ok {
		return place, true, nil
	}
	place, found, err := s.store.Place(ctx, r, id)
	if err != nil {
		return Place{}, false, fmt.Errorf("locate %s: %w", r, err)
	}
	if found && (r == ResourceTask || r == ResourceSession) {
		s.places.put(key, place, s.now().Add(placeTime))
	}
	return place, found, nil
}

type resourceKey struct {
	resource Resource
	id       string
}
