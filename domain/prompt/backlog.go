package prompt

import (
	"context"
	"fmt"
	"time"
)

// Backlog is what is owed to all sessions together (OP-8).
type Backlog struct {
	Unfinished    int64         // deliveries that are pending, reserved or combined
	OldestPending time.Duration // since the admission of the oldest pending one; 0 when there is none
}

// Measure reads the backlog and tells the observer. It is for a regular look, not for
// every question of an operator.
func (s *Service) Measure(ctx context.Context) error {
	b, err := s.store.Backlog(ctx)
	if err != nil {
		return fmt.Errorf("measure the backlog: %w", err)
	}
	s.observer.Owed(b)
	return nil
}
