package db_test

import (
	"context"
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

func TestContexts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		storetest.Contexts(t, func(tb testing.TB) storetest.ContextStore { return contextStore{open(tb)} }, "../testdata/cases/subagent-upsert.json")
	})
}

// QU-22 on both databases.
func TestFrameFaults(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		var store *db.Store
		storetest.FrameFaults(t,
			func(tb testing.TB) storetest.ContextStore { store = open(tb); return contextStore{store} },
			func(tb testing.TB, _ storetest.Store, f func(string) error) {
				dbtest.Probe(tb, store, func(_ dbtest.When, sql string) error { return f(sql) })
			})
	})
}

// contextStore can break the table of contexts.
type contextStore struct{ *db.Store }

// BreakContexts implements storetest.ContextStore.
func (s contextStore) BreakContexts(ctx context.Context) error {
	return s.InTx(ctx, "", func(ctx context.Context, t *db.Tx) error {
		_, err := t.NewRaw("ALTER TABLE task_session_subagents RENAME TO away").Exec(ctx)
		return err
	})
}
