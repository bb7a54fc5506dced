package db_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// contextScene is a session in a database of which tests write the rows themselves.
type contextScene struct {
	t       *testing.T
	store   *db.Store
	task    string
	session string
	seq     int64
}

// sceneStart is before everything of a scene.
var sceneStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newContextScene(t *testing.T, s *db.Store) *contextScene {
	t.Helper()
	w := &contextScene{t: t, store: s, task: domain.NewID(), session: domain.NewID()}
	workspace := domain.NewID()
	w.exec("INSERT INTO workspaces (id, name, created_at) VALUES (?, ?, ?)", workspace, workspace, sceneStart)
	w.exec(`INSERT INTO tasks (id, workspace_id, title, description, archived, create_fingerprint, change_seq, task_seq, plan_seq,
		comments_seq, created_at, updated_at) VALUES (?, ?, '', '', FALSE, '', 0, 0, 0, 0, ?, ?)`, w.task, workspace, sceneStart, sceneStart)
	w.addSession(w.session)
	return w
}

func (w *contextScene) addSession(id string) {
	w.t.Helper()
	w.exec(`INSERT INTO task_sessions (id, task_id, kind, title, state, auto_run, incarnation_id, last_message_seq, last_position,
		queue_revision, create_fingerprint, queue_seq, messages_seq, executions_seq, created_at, updated_at)
		VALUES (?, ?, 'main', '', 'running', TRUE, ?, 0, 0, 0, '', 0, 0, 0, ?, ?)`, id, w.task, id, sceneStart, sceneStart)
}

// exec runs a statement, whose ? are bun's.
func (w *contextScene) exec(query string, args ...any) {
	w.t.Helper()
	err := w.store.InTx(w.t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.NewRaw(query, args...).Exec(ctx)
		return err
	})
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

// told is a message of the transcript, whose metadata is written as it is.
type told struct {
	id       string // made up when empty
	session  string // that of the scene when empty
	task     any    // that of the scene when nil
	turn     any    // null when nil
	created  time.Time
	updated  time.Time // created when zero
	metadata string
}

// tell stores a message and returns its id.
func (w *contextScene) tell(m told) string {
	w.t.Helper()
	w.seq++
	if m.id == "" {
		m.id = domain.NewID()
	}
	if m.session == "" {
		m.session = w.session
	}
	if m.task == nil {
		m.task = w.task
	}
	if m.updated.IsZero() {
		m.updated = m.created
	}
	w.exec(`INSERT INTO task_session_messages (id, task_id, session_id, seq, role, type, content, tool_calls, turn_id, metadata,
		sanitized, request_fingerprint, created_at, updated_at) VALUES (?, ?, ?, ?, 'tool', 'tool_call', '', '[]', ?, ?, FALSE, '', ?, ?)`,
		m.id, m.task, m.session, w.seq, m.turn, m.metadata, m.created, m.updated)
	return m.id
}

// call is the metadata of a message that tells of an invocation. payload are members.
func call(id, payload string) string {
	return `{"tool_call_id":"` + id + `","normalized":{"kind":"subagent_task","subagent_task":{` + payload + `}}}`
}

// contexts are those of the session, without the time of their last write.
func (w *contextScene) contexts() []subagent.Context {
	w.t.Helper()
	found, err := w.store.ContextReader().Contexts(w.t.Context(), subagent.ContextFilter{SessionID: w.session}, nil, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range found {
		if found[i].UpdatedAt.IsZero() {
			w.t.Errorf("%s has no time of its last write", found[i].ToolCallID)
		}
		found[i].UpdatedAt = time.Time{}
	}
	return found
}

// keys are the values of the activation.
func (w *contextScene) keys() map[string]string {
	w.t.Helper()
	keys := map[string]string{}
	err := w.store.Read(w.t.Context(), func(ctx context.Context, q db.Querier) error {
		var rows []struct{ Key, Value string }
		err := q.NewRaw("SELECT key, value FROM gatehouse_meta WHERE key LIKE 'subagent_context_%'").Scan(ctx, &rows)
		for _, r := range rows {
			keys[r.Key] = r.Value
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return keys
}

func (w *contextScene) setKey(key, value string) {
	w.t.Helper()
	w.exec("INSERT INTO gatehouse_meta (key, value) VALUES (?, ?)", key, value)
}

func (w *contextScene) dropKey(key string) {
	w.t.Helper()
	w.exec("DELETE FROM gatehouse_meta WHERE key = ?", key)
}

// health is the answer; err fails the test.
func (w *contextScene) health() subagent.Health {
	w.t.Helper()
	h, err := w.store.ContextReader().ContextHealth(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// capture records a frame with an execution and a call, as the service does.
func (w *contextScene) capture(f subagent.Report) {
	w.t.Helper()
	f.TaskSessionID, f.TaskID = w.session, w.task
	c := subagent.Context{
		ID: domain.NewID(), TaskSessionID: w.session, TaskID: w.task, AgentExecutionID: subagent.ExecutionKey(f.ExecutionID),
		ToolCallID: f.ToolCallID, Source: subagent.SourceLive, ObservedAt: f.ObservedAt, UpdatedAt: f.ObservedAt,
	}
	if err := w.store.Contexts().MergeContexts(w.t.Context(), []subagent.Context{c}); err != nil {
		w.t.Fatal(err)
	}
}

// eachPrevious runs f on both databases, with the schema of before there were contexts.
func eachPrevious(t *testing.T, f func(t *testing.T, s *db.Store)) {
	t.Helper()
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		if strings.HasPrefix(url, "sqlite:") {
			url = "sqlite:" + filepath.Join(t.TempDir(), "previous.db")
		}
		s := dbtest.Open(t, db.Options{URL: url})
		all := s.MigrationFiles()
		if s.Name() == "postgres" { // the database is that of the template
			w := &contextScene{t: t, store: s}
			w.exec("DROP SCHEMA public CASCADE")
			w.exec("CREATE SCHEMA public")
		}
		s.SetMigrations(upTo(t, all, "20261201100500"))
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.SetMigrations(all)
		f(t, s)
	})
}

// upTo are the migrations of before a version.
func upTo(t *testing.T, all fs.FS, version string) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(all, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	earlier := fstest.MapFS{}
	for _, name := range names {
		content, err := fs.ReadFile(all, name)
		if err != nil {
			t.Fatal(err)
		}
		if name < version {
			earlier[name] = &fstest.MapFile{Data: content}
		}
	}
	return earlier
}
