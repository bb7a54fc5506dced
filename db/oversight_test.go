package db_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/prompt"
)

// QU-7: what looks over all deliveries, and what a reserve looks at while it waits,
// reads an index, however much is stored. SQLite tells.
func TestOversightReadsIndexes(t *testing.T) {
	store := dbtest.Open(t, db.Options{URL: dbtest.SQLiteURL(t)})
	prompts, some := store.Prompts(), &domain.Position{At: time.Now(), ID: domain.NewID()}
	for index, look := range map[string]func(ctx context.Context) error{
		"deliveries_leases (lease_expires_at": func(ctx context.Context) error {
			_, err := prompts.Overdue(ctx, prompt.StateReserved, time.Now(), nil, 100)
			return err
		},
		"deliveries_attempts (": func(ctx context.Context) error {
			_, err := prompts.Overdue(ctx, prompt.StateAttempted, time.Now(), some, 100)
			return err
		},
		"COVERING INDEX deliveries_backlog": func(ctx context.Context) error {
			_, err := prompts.Backlog(ctx)
			return err
		},
		"deliveries_reserved (session_id=?)": func(ctx context.Context) error {
			_, _ = prompts.Watch(ctx, domain.NewID(), domain.NewID()) // there is none
			return nil
		},
	} {
		var asked string
		store.SetProbe(func(_ dbtest.When, sql string, _ []any) error { asked = sql; return nil })
		if err := look(t.Context()); err != nil {
			t.Fatal(err)
		}
		store.SetProbe(nil)
		if plan := planOf(t, store, asked); !strings.Contains(plan, index) || strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nis read as\n%s\nwithout %s", asked, plan, index)
		}
	}
}

// planOf is how SQLite carries out a query.
func planOf(t *testing.T, store *db.Store, sql string) string {
	t.Helper()
	var steps []struct {
		ID, Parent, Notused int
		Detail              string
	}
	err := store.Read(t.Context(), func(ctx context.Context, q db.Querier) error {
		return q.NewRaw("EXPLAIN QUERY PLAN "+sql).Scan(ctx, &steps)
	})
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for _, s := range steps {
		plan.WriteString(s.Detail + "\n")
	}
	return plan.String()
}
