package db_test

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/subagent"
)

// HI-23, QU-5: no read of a long session goes through all rows of a table. Each finds
// what it needs by an index, on both databases.
func TestQueryPlans(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		id := dbtest.LongSession(t, url, 5000)
		store := dbtest.Open(t, db.Options{URL: url})
		planner := newPlanner(t, url)
		for name, read := range longReads(t, store, id) {
			t.Run(name, func(t *testing.T) {
				var statements []string
				dbtest.Probe(t, store, func(when dbtest.When, sql string) error {
					if when == dbtest.Before && !slices.Contains([]string{"COMMIT", "ROLLBACK"}, sql) && !strings.HasPrefix(sql, "BEGIN") {
						statements = append(statements, sql)
					}
					return nil
				})
				if err := read(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n := len(statements); n == 0 || n > 5 {
					t.Errorf("%d statements", n)
				}
				for _, statement := range statements {
					if scans := planner.scans(t, statement); len(scans) > 0 {
						t.Errorf("%v in\n%s", scans, statement)
					}
				}
			})
		}
	})
}

// longReads are the reads that a long session must not make slow.
func longReads(t *testing.T, store *db.Store, id string) map[string]func(context.Context) error {
	h := history.NewService(store.History(), domain.SystemClock, nil, nil)
	executions, contexts := subagent.NewExecutions(store.Executions(), domain.SystemClock, nil), subagent.NewContexts(store.ContextReader())
	pages := map[string]history.PageQuery{
		"last rounds": {}, "rounds before": {Before: new(int64(2500))}, "rounds after": {After: new(int64(2500)), Rounds: new(5)},
		"last messages": {Limit: new(50)}, "messages before": {Limit: new(50), Before: new(int64(2500))},
		"messages after": {Limit: new(50), After: new(int64(2500))}, "no diffs": {Diffs: history.DiffsNone},
	}
	reads := map[string]func(context.Context) error{}
	for name, q := range pages {
		reads[name] = func(ctx context.Context) error { _, err := h.Messages(ctx, id, q); return err }
	}
	page, err := h.Messages(t.Context(), id, history.PageQuery{Limit: new(50)})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(page.Messages, func(m history.PageMessage) bool { return len(m.FileChanges) > 0 })
	change := page.Messages[at].FileChanges[0].ID
	second := func(list func(domain.PageRequest) (next *string, err error)) error {
		next, err := list(domain.PageRequest{Limit: 10})
		if err != nil || next == nil {
			return err
		}
		_, err = list(domain.PageRequest{Limit: 10, Cursor: *next})
		return err
	}
	reads["rounds"] = func(ctx context.Context) error { _, err := h.Rounds(ctx, id, history.RoundQuery{}); return err }
	reads["one change"] = func(ctx context.Context) error { _, err := h.FileChange(ctx, change); return err }
	reads["executions"] = func(ctx context.Context) error {
		return second(func(r domain.PageRequest) (*string, error) {
			p, err := executions.List(ctx, id, r)
			return p.NextCursor, err
		})
	}
	reads["contexts"] = func(ctx context.Context) error {
		f := subagent.ContextFilter{SessionID: id}
		return second(func(r domain.PageRequest) (*string, error) {
			p, err := contexts.List(ctx, f, r)
			return p.NextCursor, err
		})
	}
	reads["summary of contexts"] = func(ctx context.Context) error {
		_, err := contexts.Summary(ctx, subagent.ContextFilter{SessionID: id})
		return err
	}
	return reads
}

// planner asks a database how it would go about a statement.
type planner struct {
	*sql.DB
	postgres bool
}

func newPlanner(t *testing.T, url string) *planner {
	t.Helper()
	p := &planner{DB: dbtest.OpenPlain(t, url), postgres: !strings.HasPrefix(url, "sqlite:")}
	if p.postgres { // a small table is read as a whole only where there is no other way
		p.exec(t, "SET plan_cache_mode = force_generic_plan")
		p.exec(t, "SET enable_seqscan = off")
	}
	return p
}

func (p *planner) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := p.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

var (
	numbered = regexp.MustCompile(`\$(\d+)`)

	// A table that is read from end to end. The names of what is computed on the way,
	// and of rows without a table, are short, or in brackets.
	sqliteScan   = regexp.MustCompile(`SCAN (e|c|m|n|s|d|t|[a-z]+_[a-z_]+)\b.*`)
	postgresScan = regexp.MustCompile(`Seq Scan on (task_session_messages|message_file_changes|subagent_executions|task_session_delegations|task_session_subagents)\b.*`)
)

// scans are the steps of a statement that go through all of a table.
func (p *planner) scans(t *testing.T, statement string) (found []string) {
	t.Helper()
	args := 0
	for _, m := range numbered.FindAllStringSubmatch(statement, -1) {
		n, _ := strconv.Atoi(m[1])
		args = max(args, n)
	}
	explain, bound := "EXPLAIN QUERY PLAN "+statement, make([]any, max(args, strings.Count(statement, "?")))
	scan := sqliteScan
	if p.postgres {
		p.exec(t, "PREPARE asked AS "+statement)
		defer p.exec(t, "DEALLOCATE asked")
		explain, bound, scan = "EXPLAIN EXECUTE asked", nil, postgresScan
		if args > 0 {
			explain += "(NULL" + strings.Repeat(", NULL", args-1) + ")"
		}
	}
	rows, err := p.QueryContext(t.Context(), explain, bound...)
	if err != nil {
		t.Fatalf("%v in\n%s", err, statement)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var ids [3]int
		var step string
		into := []any{&step}
		if !p.postgres {
			into = []any{&ids[0], &ids[1], &ids[2], &step}
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		if m := scan.FindString(step); m != "" {
			found = append(found, m)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
