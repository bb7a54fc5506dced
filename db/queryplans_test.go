package db_test

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/session"
)

// planned is a database with a long session among many short ones, all of which were
// sent prompts.
type planned struct {
	store       *db.Store
	long, short string // sessions
	task        string // of the short one
}

// shape is what there is: messages of the long session, and short sessions. Where they
// are few, PostgreSQL takes a session for much of a table.
type shape struct{ long, short int }

var shapes = map[string]shape{"among many": {20_000, 30}, "among few": {50_000, 2}}

const shortMessages = 150 // of each short session

func newPlanned(t *testing.T, url string, p planner, of shape) planned {
	t.Helper()
	ids := dbtest.LongSessions(t, url, append([]int{of.long}, slices.Repeat([]int{shortMessages}, of.short)...)...)
	w := planned{store: dbtest.Open(t, db.Options{URL: url}), long: ids[0], short: ids[len(ids)-1]}
	for _, statement := range crowdSQL {
		p.exec(t, statement)
	}
	if p.postgres {
		p.exec(t, "VACUUM ANALYZE")
	}
	ses, err := session.NewService(w.store.Sessions(), domain.SystemClock, nil).Get(t.Context(), w.short)
	if err != nil {
		t.Fatal(err)
	}
	w.task = ses.TaskID
	return w
}

// crowdSQL gives every main session 200 deliveries, of which a few are not settled,
// with what admitted them, 200 turns, and its task 200 attachments, and adds tasks with
// sessions that have none of it.
var crowdSQL = []string{
	`WITH RECURSIVE i(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < 1999)
INSERT INTO tasks (id, workspace_id, title, description, archived, create_fingerprint, change_seq, task_seq, plan_seq, comments_seq, created_at, updated_at)
SELECT substr(t.id, 1, 24) || (100000000000 + i), workspace_id, title, description, archived, create_fingerprint, 0, 0, 0, 0, created_at, updated_at
FROM i CROSS JOIN (SELECT * FROM tasks ORDER BY id LIMIT 1) AS t`,
	`INSERT INTO task_sessions (id, task_id, kind, title, state, auto_run, incarnation_id, last_message_seq, last_position,
  queue_revision, create_fingerprint, queue_seq, messages_seq, executions_seq, created_at, updated_at)
SELECT replace(id, '-9001-', '-901' || k || '-'), id, 'side_task', '', 'created', true, id, 0, 0, 0, '', 0, 0, 0, created_at, updated_at
FROM tasks CROSS JOIN (SELECT 2 AS k UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) AS four WHERE change_seq = 0`,
	crowd + `INSERT INTO deliveries (id, task_id, session_id, incarnation_id, kind, client_id, state, position, content, plan_mode,
  attachments, plan_comment_refs, metadata, version, token_hash, lease_expires_at, attempted_at, combined_into, pending_at, created_at, updated_at)
SELECT key, task_id, id, incarnation_id, 'queued', 'c' || i,
  CASE i WHEN 199 THEN 'pending' WHEN 198 THEN 'combined' WHEN 197 THEN 'attempted' WHEN 196 THEN 'reserved' ELSE 'acknowledged' END,
  i, 'Go on.', false, '[]', '[]', '{}', 1, CASE i WHEN 196 THEN 'x' END, CASE i WHEN 196 THEN created_at END,
  CASE i WHEN 197 THEN created_at END, CASE i WHEN 198 THEN replace(key, '198', '197') END, created_at, created_at, created_at
FROM crowd`,
	crowd + `INSERT INTO task_session_turns (id, task_id, session_id, state, create_fingerprint, started_at)
SELECT key, task_id, id, CASE i WHEN 199 THEN 'running' ELSE 'completed' END, 'x', created_at FROM crowd`,
	crowd + `INSERT INTO attachments (id, task_id, name, media_type, bytes, delivery_id, created_at, expires_at)
SELECT key, task_id, 'a', 'text/plain', 1, key, created_at, CASE i WHEN 199 THEN created_at END FROM crowd`,
	crowd + `INSERT INTO admissions (task_id, client_id, delivery_id, requested_session_id, fingerprint, consumed_comment_refs, created_at)
SELECT task_id, 'c' || i, key, id, '{}', '[]', created_at FROM crowd`,
}

const crowd = `WITH RECURSIVE i(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < 199),
  crowd(i, key, id, task_id, incarnation_id, created_at) AS (
    SELECT i, substr(id, 1, 24) || (100000000000 + i), id, task_id, incarnation_id, created_at FROM task_sessions CROSS JOIN i WHERE kind = 'main')
`

// noStatement is what the store tells of that no planner plans.
var noStatement = regexp.MustCompile(`^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|END LEASE|LEASE)`)

// record returns the statements of what do asks of the store.
func (w planned) record(t *testing.T, do func(context.Context) error) (statements []asked) {
	t.Helper()
	dbtest.ProbeArgs(t, w.store, func(when dbtest.When, sql string, args []any) error {
		if when == dbtest.Before && !noStatement.MatchString(sql) {
			statements = append(statements, asked{sql, slices.Clone(args)})
		}
		return nil
	})
	defer w.store.SetProbe(nil)
	if err := do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(statements) == 0 {
		t.Error("it asked for nothing")
	}
	return statements
}

// HI-23, QU-5, QU-7: what is read often goes through no whole table, no whole index,
// and sorts nothing, on both databases, whatever their planners know.
func TestQueryPlans(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		for name, of := range shapes {
			t.Run(name, func(t *testing.T) { checkPlans(t, newURL(t), of) })
		}
	})
}

func checkPlans(t *testing.T, url string, of shape) {
	t.Helper()
	p := newPlanner(t, url)
	w := newPlanned(t, url, p, of)
	reads := w.historyReads(t)
	maps.Copy(reads, w.listReads())
	maps.Copy(reads, w.queueReads())
	maps.Copy(reads, w.lookups())
	recorded := map[string][]asked{}
	for name, read := range reads {
		recorded[name] = w.record(t, read)
	}
	for _, by := range p.plannings() {
		if by.setup != "" {
			p.exec(t, by.setup)
		}
		for name, statements := range recorded {
			p.check(t, by, name, statements)
		}
	}
}

// check finds fault with the plans of the statements of a read.
func (p planner) check(t *testing.T, by planning, name string, statements []asked) {
	t.Helper()
	used := map[string]bool{}
	for _, a := range statements {
		plan := p.plan(t, by, a)
		if len(plan.wasted) > 0 && (!by.sorts || !sortsFew[name]) {
			t.Errorf("%s, planned %s: %q in\n%s", name, by.name, plan.wasted, a.sql)
		}
		for _, index := range plan.indexes {
			used[index] = true
		}
	}
	for _, index := range needed[name] {
		if !used[index] {
			t.Errorf("%s, planned %s, does not use %s", name, by.name, index)
		}
	}
}

// sortsFew are the reads that put a few rows in order, whatever index finds them.
var sortsFew = map[string]bool{"running executions": true}

// needed are the indexes of reads that others could stand in for, at the price of
// looking at everything that the session has.
var needed = map[string][]string{
	"last rounds": {
		"task_session_messages_rounds", "task_session_messages_visible",
		"subagent_executions_by_message", "subagent_executions_by_child",
	},
	"rounds":                   {"task_session_messages_rounds", "task_session_messages_visible", "subagent_executions_by_message"},
	"rounds of messages after": {"task_session_messages_rounds", "task_session_messages_visible", "subagent_executions_by_message"},
	"messages before":          {"task_session_messages_visible", "subagent_executions_by_message"},
	"executions of calls":      {"subagent_executions_waiting", "subagent_executions_by_message"},
	"sources":                  {"deliveries_sources"},
	"running turns":            {"task_session_turns_running"},
	"reserve and release":      {"deliveries_unfinished"},
	"leases":                   {"deliveries_leases"},
}
