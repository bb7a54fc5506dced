package db_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
	"gatehouse/domain/subagent"
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

// contextStore can read contexts, and break their table.
type contextStore struct{ *db.Store }

type contextRow struct {
	bun.BaseModel `bun:"table:task_session_subagents,alias:c"`
	subagent.Context
}

// ContextRows implements storetest.ContextStore.
func (s contextStore) ContextRows(ctx context.Context, sessionID string) ([]subagent.Context, error) {
	var rows []contextRow
	err := s.Read(ctx, func(ctx context.Context, q db.Querier) error {
		return q.NewSelect().Model(&rows).Where("task_session_id = ?", sessionID).
			Order("observed_at", "tool_call_id", "agent_execution_id").Scan(ctx)
	})
	var contexts []subagent.Context
	for _, row := range rows {
		row.ObservedAt, row.UpdatedAt = row.ObservedAt.UTC(), row.UpdatedAt.UTC()
		contexts = append(contexts, row.Context)
	}
	return contexts, err
}

// BreakContexts implements storetest.ContextStore.
func (s contextStore) BreakContexts(ctx context.Context) error {
	return s.InTx(ctx, "", func(ctx context.Context, t *db.Tx) error {
		_, err := t.NewRaw("ALTER TABLE task_session_subagents RENAME TO away").Exec(ctx)
		return err
	})
}
