package load_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// Ids of seeded rows are a prefix, which tells the kind, and a number from firstNumber.
const (
	workspaceID   = "00000000-0000-7000-8000-000000000000"
	taskPrefix    = "00000000-0000-7000-8001-"
	sessionPrefix = "00000000-0000-7000-8002-"
	planPrefix    = "00000000-0000-7000-8003-"
	commentPrefix = "00000000-0000-7000-801" // then the ordinal of the comment, 0 to 2, and a dash
	firstNumber   = 100_000_000_000
)

func id(prefix string, n int) string { return fmt.Sprintf("%s%d", prefix, firstNumber+n) }

func commentID(ordinal, n int) string { return id(fmt.Sprintf("%s%d-", commentPrefix, ordinal), n) }

// seedSQL makes n tasks, numbered from 0, each with a primary session, a plan and
// three pending comments. It is the same on both databases.
const seedSQL = `
INSERT INTO workspaces (id, name, created_at) VALUES ('` + workspaceID + `', 'load', ` + then + `);
WITH RECURSIVE g(i) AS (SELECT FIRST UNION ALL SELECT i + 1 FROM g WHERE i + 1 < LAST)
INSERT INTO tasks (id, workspace_id, title, description, archived, primary_session_id, create_fingerprint,
  change_seq, task_seq, plan_seq, comments_seq, created_at, updated_at)
SELECT '` + taskPrefix + `' || i, '` + workspaceID + `', 'a task', '', false, '` + sessionPrefix + `' || i, 'x', 5, 2, 2, 5, ` + then + `, ` + then + ` FROM g;
WITH RECURSIVE g(i) AS (SELECT FIRST UNION ALL SELECT i + 1 FROM g WHERE i + 1 < LAST)
INSERT INTO task_sessions (id, task_id, kind, title, state, auto_run, incarnation_id, last_message_seq, last_position,
  queue_revision, create_fingerprint, queue_seq, messages_seq, executions_seq, created_at, updated_at)
SELECT '` + sessionPrefix + `' || i, '` + taskPrefix + `' || i, 'main', '', 'created', true, '` + sessionPrefix + `' || i, 0, 0, 0, 'x', 0, 0, 0, ` + then + `, ` + then + ` FROM g;
WITH RECURSIVE g(i) AS (SELECT FIRST UNION ALL SELECT i + 1 FROM g WHERE i + 1 < LAST)
INSERT INTO task_plans (id, task_id, content, version, comments_revision, created_at, updated_at)
SELECT '` + planPrefix + `' || i, '` + taskPrefix + `' || i, 'the plan', 1, 3, ` + then + `, ` + then + ` FROM g;
WITH RECURSIVE g(i) AS (SELECT FIRST UNION ALL SELECT i + 1 FROM g WHERE i + 1 < LAST)
INSERT INTO task_plan_comments (task_id, id, plan_id, body, selected_text, anchor_from, anchor_to, version, created_at, updated_at)
SELECT '` + taskPrefix + `' || i, '` + commentPrefix + `' || k || '-' || i, '` + planPrefix + `' || i,
  'Why is this step needed when the one before it does the same? Please explain.', 'Step one: read all of it again.',
  10, 40, 1, ` + then + `, ` + then + `
FROM g CROSS JOIN (SELECT 0 AS k UNION ALL SELECT 1 UNION ALL SELECT 2) AS three`

// then is when all of it was made, in words that both databases take.
const then = "'2026-12-01T00:00:00.000000Z'"

// seed fills an empty database with n tasks and returns it open.
func seed(tb testing.TB, url string, n int) *sql.DB {
	tb.Helper()
	db := openRaw(tb, url)
	script := strings.NewReplacer("FIRST", fmt.Sprint(firstNumber), "LAST", fmt.Sprint(firstNumber+n)).Replace(seedSQL)
	for statement := range strings.SplitSeq(script, ";\n") {
		if _, err := db.ExecContext(tb.Context(), statement); err != nil {
			tb.Fatalf("%v in %s", err, statement)
		}
	}
	return db
}

// openRaw opens a database as the service does, straight on the driver.
func openRaw(tb testing.TB, url string) *sql.DB {
	tb.Helper()
	driver, name := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, name = "sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"+
			"&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)&_pragma=wal_autocheckpoint(4000)&_pragma=journal_size_limit(67108864)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		tb.Fatal(err)
	}
	if driver == "sqlite" {
		db.SetMaxOpenConns(1)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}
