package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"gatehouse/db"
	"gatehouse/domain"
)

// readiness is that of the store and of recovery, until the server is told to end
// (OP-14).
type readiness struct {
	store    *db.Store
	recovery *recovery
	stopping atomic.Bool
}

// Ready implements handlers.Readiness.
func (r *readiness) Ready(ctx context.Context) error {
	if r.stopping.Load() {
		return fmt.Errorf("stopping: %w", domain.ErrUnavailable)
	}
	if err := r.recovery.alive(); err != nil {
		return err
	}
	return r.store.Ready(ctx)
}
