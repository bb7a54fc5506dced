package process

import (
	"database/sql"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// wholesome are questions that a whole database answers with no row.
var wholesome = map[string]string{
	"seq of messages with gaps or beyond the last": `SELECT s.id FROM task_sessions s LEFT JOIN task_session_messages m ON m.session_id = s.id
GROUP BY s.id, s.last_message_seq HAVING count(m.id) <> s.last_message_seq OR coalesce(max(m.seq), 0) <> s.last_message_seq`,
	"deliveries without their admission": `SELECT d.id FROM deliveries d LEFT JOIN admissions a ON a.delivery_id = d.id WHERE d.client_id IS NOT NULL AND a.delivery_id IS NULL`,
	"admissions without their delivery":  `SELECT a.client_id FROM admissions a LEFT JOIN deliveries d ON d.id = a.delivery_id WHERE d.id IS NULL`,
	"deliveries without their message": `SELECT d.id FROM deliveries d LEFT JOIN task_session_messages m ON m.id = d.message_id
WHERE d.message_id IS NOT NULL AND m.id IS NULL`,
	"sessions with two running turns": `SELECT session_id FROM task_session_turns WHERE state = 'running' GROUP BY session_id HAVING count(*) > 1`,
	"stamps ahead of their task": `SELECT t.id FROM tasks t JOIN task_sessions s ON s.task_id = t.id
WHERE s.queue_seq > t.change_seq OR s.messages_seq > t.change_seq OR t.comments_seq > t.change_seq`,
	"changes without their message": `SELECT c.id FROM message_file_changes c LEFT JOIN task_session_messages m ON m.id = c.message_id WHERE m.id IS NULL`,
}

// CheckDatabase looks at a database that nobody serves any more. That PostgreSQL,
// which was not killed, keeps its files whole is taken for granted.
func CheckDatabase(t *testing.T, url string) {
	t.Helper()
	db := OpenDatabase(t, url)
	if strings.HasPrefix(url, "sqlite:") {
		var verdict string
		if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			t.Errorf("integrity check: %s %v", verdict, err)
		}
		wantNone(t, db, "broken foreign keys", "SELECT \"table\" FROM pragma_foreign_key_check")
	}
	for what, query := range wholesome {
		wantNone(t, db, what, query)
	}
}

func wantNone(t *testing.T, db *sql.DB, what, query string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s: %s", what, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// OpenDatabase opens a database straight on its driver, until the test ends.
func OpenDatabase(tb testing.TB, url string) *sql.DB {
	tb.Helper()
	driver, name := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, name = "sqlite", path
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}
