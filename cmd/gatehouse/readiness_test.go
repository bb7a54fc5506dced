package main

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/domain"
)

// A server whose database has the schema of another version is not ready, and nothing
// has failed: so it is while a new version takes over from it.
func TestReadinessWithAnotherSchema(t *testing.T) { // OP-14
	cfg := testSettings(t)
	store, err := openStore(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	r := &readiness{store: store, recovery: &recovery{every: time.Minute}}
	r.recovery.ended.Store(new(time.Now()))
	if err := r.Ready(t.Context()); !errors.Is(err, domain.ErrUnavailable) || !errors.Is(err, db.ErrSchemaOlder) {
		t.Errorf("before the migration: %v", err)
	}
	if _, err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Ready(t.Context()); err != nil {
		t.Errorf("after it: %v", err)
	}
}
