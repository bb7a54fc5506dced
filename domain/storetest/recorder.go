package storetest

import (
	"context"
	"slices"
	"sync"

	"gatehouse/domain/event"
)

// recorder is a publisher that keeps what it is told, and fails when it is made to.
type recorder struct {
	mu      sync.Mutex
	notices []event.Notice
	fail    error
}

// Publish implements event.Publisher.
func (r *recorder) Publish(_ context.Context, n event.Notice) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	r.notices = append(r.notices, n)
	return nil
}

// take returns what was told since the last look.
func (r *recorder) take() []event.Notice {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := slices.Clone(r.notices)
	r.notices = nil
	return taken
}
