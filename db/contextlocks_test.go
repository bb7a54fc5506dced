package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// SC-12, SC-14: a session of which a merge has written some rows and not yet others can
// be deleted. The two never wait for each other in a circle, of which PostgreSQL would
// end one.
func TestMergesLetSessionsBeDeleted(t *testing.T) {
	url := dbtest.PostgresURL(t)
	w := newContextScene(t, dbtest.Open(t, db.Options{URL: url}))
	other := dbtest.Open(t, db.Options{URL: url})
	if err := w.store.Contexts().MergeContexts(t.Context(), w.rows("a", "b")); err != nil {
		t.Fatal(err)
	}
	var merged, deleted error
	var deletions int
	var group sync.WaitGroup
	err := other.InTx(t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.NewRaw("SELECT 1 FROM task_session_subagents WHERE tool_call_id = 'b' FOR UPDATE").Exec(ctx); err != nil {
			return err
		}
		group.Go(func() { merged = w.store.Contexts().MergeContexts(t.Context(), w.rows("a", "b", "c")) })
		awaitWaiting(t, url, 1)
		group.Go(func() {
			deleted = w.store.InTx(t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
				deletions++
				_, err := tx.NewRaw("DELETE FROM task_sessions WHERE id = ?", w.session).Exec(ctx)
				return err
			})
		})
		awaitWaiting(t, url, 2)
		return nil
	})
	group.Wait()
	if err != nil || merged != nil || deleted != nil || deletions != 1 {
		t.Errorf("%v; merged: %v; deleted at attempt %d: %v", err, merged, deletions, deleted)
	}
}

// SC-14: merges that wait leave connections to everybody else.
func TestMergesLeaveConnections(t *testing.T) {
	url := dbtest.PostgresURL(t)
	w := newContextScene(t, dbtest.Open(t, db.Options{URL: url, MaxConnections: 4}))
	other := dbtest.Open(t, db.Options{URL: url})
	var group sync.WaitGroup
	err := other.InTx(t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.NewRaw("LOCK TABLE task_session_subagents").Exec(ctx); err != nil {
			return err
		}
		merging, stop := context.WithCancel(t.Context())
		defer stop()
		for range 8 {
			group.Go(func() {
				if err := w.store.Contexts().MergeContexts(merging, w.rows("a")); err == nil {
					t.Error("merged into a locked table")
				}
			})
		}
		awaitWaiting(t, url, 1)
		reading, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for range 100 {
			if err := w.store.Read(reading, func(ctx context.Context, q db.Querier) error {
				var n int
				return q.NewRaw("SELECT COUNT(*) FROM tasks").Scan(ctx, &n)
			}); err != nil {
				t.Errorf("read beside waiting merges: %v", err)
				break
			}
		}
		return nil
	})
	group.Wait()
	if err != nil {
		t.Error(err)
	}
}

// rows are contexts of calls of the session.
func (w *contextScene) rows(calls ...string) []subagent.Context {
	var rows []subagent.Context
	for _, call := range calls {
		rows = append(rows, subagent.Context{
			ID: domain.NewID(), TaskSessionID: w.session, TaskID: w.task, AgentExecutionID: "e", ToolCallID: call,
			Source: subagent.SourceLive, ObservedAt: sceneStart, UpdatedAt: sceneStart,
		})
	}
	return rows
}

// awaitWaiting returns when n transactions of a PostgreSQL database wait for a lock.
func awaitWaiting(t *testing.T, url string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	look := dbtest.Open(t, db.Options{URL: url})
	for waiting := 0; waiting < n; {
		err := look.Read(ctx, func(ctx context.Context, q db.Querier) error {
			return q.NewRaw("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").
				Scan(ctx, &waiting)
		})
		if err != nil {
			t.Errorf("%d wait: %v", waiting, err)
			return
		}
	}
}
