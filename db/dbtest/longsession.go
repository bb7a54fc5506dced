package dbtest

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// The shape of a long session: blocks of messages that begin with rounds of ten. Every
// block has one delegation of two changes, but the first, the middle and the last one
// have what a page of QU-4 has.
const blockMessages = 50

// Ids of the rows are a prefix, in which GROUP tells the session, and a number.
const (
	longWorkspace = "00000000-0000-7000-9000-000000000000"
	longTask      = "00000000-0000-7GROUP-9001-000000000000"
	longSession   = "00000000-0000-7GROUP-9002-000000000000"
	longChild     = "'00000000-0000-7GROUP-9003-' || (100000000000 + b * 8 + k)"
	longRun       = "'00000000-0000-7GROUP-9004-' || (100000000000 + b * 8 + k)"
	longMessage   = "'00000000-0000-7GROUP-9005-' || (100000000000 + b * 50 + k + 2)"
	longChange    = "'00000000-0000-7GROUP-9006-' || (100000000000 + (b * 8 + k) * 20 + j)"
	longContext   = "'00000000-0000-7GROUP-9007-' || (100000000000 + b * 8 + k)"
)

const longThen = "'2026-12-01T00:00:00.000000Z'"

// delegations of the session are k of the block b.
const delegationsCTE = `WITH RECURSIVE g(b) AS (SELECT 0 UNION ALL SELECT b + 1 FROM g WHERE b + 1 < BLOCKS),
  d(b, k) AS (SELECT b, k FROM g CROSS JOIN (SELECT 0 AS k UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3
    UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7) AS eight WHERE k = 0 OR b IN (FULL))`

// messageColumns ends with literals that are the same for every message.
const messageColumns = `INSERT INTO task_session_messages (id, task_id, session_id, seq, role, type, content, tool_calls, metadata, sanitized,
  request_fingerprint, created_at, updated_at)
`

const longWorkspaceSQL = `INSERT INTO workspaces (id, name, created_at) VALUES ('` + longWorkspace + `', 'long', ` + longThen + `)`

var longSessionSQL = []string{
	`INSERT INTO tasks (id, workspace_id, title, description, archived, primary_session_id, create_fingerprint,
  change_seq, task_seq, plan_seq, comments_seq, created_at, updated_at)
VALUES ('` + longTask + `', '` + longWorkspace + `', 'long', '', false, '` + longSession + `', 'x', 1, 1, 0, 0, ` + longThen + `, ` + longThen + `)`,
	`INSERT INTO task_sessions (id, task_id, kind, title, state, auto_run, incarnation_id, last_message_seq, last_position,
  queue_revision, create_fingerprint, queue_seq, messages_seq, executions_seq, created_at, updated_at)
VALUES ('` + longSession + `', '` + longTask + `', 'main', '', 'created', true, '` + longSession + `', MESSAGES, 0, 0, 'x', 0, 1, 1, ` + longThen + `, ` + longThen + `)`,
	delegationsCTE + `
INSERT INTO task_sessions (id, task_id, kind, parent_session_id, title, state, auto_run, incarnation_id, last_message_seq, last_position,
  queue_revision, create_fingerprint, queue_seq, messages_seq, executions_seq, created_at, updated_at)
SELECT ` + longChild + `, '` + longTask + `', 'subagent', '` + longSession + `', '', 'completed', true, 'x', 1, 0, 0, 'x', 0, 1, 0, ` + longThen + `, ` + longThen + ` FROM d`,
	`WITH RECURSIVE g(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM g WHERE i + 1 < MESSAGES)
` + messageColumns + `SELECT '00000000-0000-7GROUP-9005-' || (100000000000 + i + 1), '` + longTask + `', '` + longSession + `', i + 1,
  CASE WHEN i % 10 = 0 THEN 'user' ELSE 'assistant' END, 'message', 'CONTENT', '[]', '{}', false, 'x', ` + longThen + `, ` + longThen + ` FROM g
WHERE NOT (i % 50 = 1 OR i % 50 BETWEEN 1 AND 8 AND i / 50 IN (FULL))`,
	delegationsCTE + `
` + messageColumns + `SELECT ` + longMessage + `, '` + longTask + `', '` + longSession + `', b * 50 + k + 2, 'assistant', 'message', 'CONTENT',
  '[{"id":"call","name":"Task","arguments":"{}"}]', '{}', false, 'x', ` + longThen + `, ` + longThen + ` FROM d`,
	delegationsCTE + `
INSERT INTO task_session_delegations (message_id, tool_call_id, ordinal, session_id, message_seq)
SELECT ` + longMessage + `, 'call', 0, '` + longSession + `', b * 50 + k + 2 FROM d`,
	delegationsCTE + `
INSERT INTO subagent_executions (id, task_id, parent_session_id, parent_tool_call_id, parent_message_id, parent_message_seq,
  parent_call_ordinal, child_session_id, run, tool, status, start_message_seq, end_message_seq, create_fingerprint, started_at, ended_at, updated_at)
SELECT ` + longRun + `, '` + longTask + `', '` + longSession + `', 'call', ` + longMessage + `, b * 50 + k + 2, 0, ` + longChild + `, 1, 'Task',
  'completed', 0, 1, 'x', ` + longThen + `, ` + longThen + `, ` + longThen + ` FROM d`,
	delegationsCTE + `
INSERT INTO message_file_changes (id, task_id, session_id, message_id, message_seq, ordinal, path, path_key, change_type, diff_mode,
  patch_truncated, lines_added, lines_deleted, created_at, text_bytes, before_content, after_content)
SELECT ` + longChange + `, '` + longTask + `', ` + longChild + `, 'x', 1, j, 'folder/file' || j || '.go', 'folder/file' || j || '.go', 'MODIFIED',
  'SNAPSHOT', false, 1, 0, ` + longThen + `, BYTES, 'BEFORE', 'AFTER'
FROM d CROSS JOIN (WITH RECURSIVE f(j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM f WHERE j < 19) SELECT j FROM f) AS files
WHERE j < 2 OR b IN (FULL)`,
	delegationsCTE + `
INSERT INTO task_session_subagents (id, task_session_id, task_id, agent_execution_id, tool_call_id, tool_status, total_tokens, observed_at, updated_at)
SELECT ` + longContext + `, '` + longSession + `', '` + longTask + `', 'run', 'call' || (b * 8 + k), 'completed', 100, ` + longThen + `, ` + longThen + ` FROM d`,
}

// LongSession fills an empty database with a session of so many messages, at least
// three blocks of 50, and returns its id. Its subagents changed files, and each call has
// a context.
func LongSession(tb testing.TB, url string, messages int) (sessionID string) {
	tb.Helper()
	return LongSessions(tb, url, messages)[0]
}

// LongSessions is [LongSession] of several, each in a task of its own.
func LongSessions(tb testing.TB, url string, messages ...int) (sessionIDs []string) {
	tb.Helper()
	database := OpenPlain(tb, url)
	exec := func(statement string) {
		if _, err := database.ExecContext(tb.Context(), statement); err != nil {
			tb.Fatalf("%v in %.200s", err, statement)
		}
	}
	exec(longWorkspaceSQL)
	for i, n := range messages {
		fill := longFill(i, n)
		for _, statement := range longSessionSQL {
			exec(fill.Replace(statement))
		}
		sessionIDs = append(sessionIDs, fill.Replace(longSession))
	}
	if !strings.HasPrefix(url, "sqlite:") { // which would not have done so by now
		exec("VACUUM ANALYZE")
	}
	return sessionIDs
}

// longFill writes out what stands in capitals in a statement, for the session of a
// number.
func longFill(number, messages int) *strings.Replacer {
	blocks := messages / blockMessages
	line := "a line of the file that is changed\n"
	before, after := strings.Repeat(line, 8), strings.Repeat(line, 9)
	return strings.NewReplacer(
		"GROUP", fmt.Sprintf("%03x", number),
		"MESSAGES", strconv.Itoa(messages), "BLOCKS", strconv.Itoa(blocks), "FULL", fmt.Sprintf("0, %d, %d", blocks/2, blocks-1),
		"CONTENT", strings.Repeat("What was done, and why. ", 17),
		"BYTES", strconv.Itoa(len(before)+len(after)), "BEFORE", before, "AFTER", after,
	)
}

// OpenPlain opens a database straight on the driver.
func OpenPlain(tb testing.TB, url string) *sql.DB {
	tb.Helper()
	driver, name := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	database, err := sql.Open(driver, name)
	if err != nil {
		tb.Fatal(err)
	}
	database.SetMaxOpenConns(1)
	tb.Cleanup(func() { _ = database.Close() })
	return database
}
