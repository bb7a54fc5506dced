package main

import (
	"context"
	"errors"
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
	err := r.store.Ready(ctx)
	if errors.Is(err, db.ErrSchemaNewer) || errors.Is(err, db.ErrSchemaOlder) {
		// No fault of this program: one of another version has migrated the database, or will.
		return fmt.Errorf("%w: %w", domain.ErrUnavailable, err)
	}
	return err
}
