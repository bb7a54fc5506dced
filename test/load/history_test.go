package load_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/subagent"
	"gatehouse/gen"
	"gatehouse/test/process"
)

// Sizes of the page that QU-4 names.
const (
	pageMessages     = 50
	pageDelegations  = 8
	changesPerRun    = 20
	manyDelegations  = 50
	pagesPerRound    = 20
	lookupsPerRound  = 10
	statementsOfPage = 3 // session and edge, messages, changes
)

// BenchmarkHistoryPage measures a page over HTTP against its statements, prepared and
// straight on the driver in one read transaction, and the making of the same JSON
// (QU-4).
func BenchmarkHistoryPage(b *testing.B) {
	eachURL(b, func(b *testing.B, url string) {
		server := process.Start(b, url, "--log-level=info")
		session := delegatedWork(b, server.Client, pageDelegations)
		path := fmt.Sprintf("/v1/sessions/%s/messages?limit=%d", session, pageMessages)
		var page gen.History
		answer, err := server.Send(b.Context(), http.MethodGet, path, nil)
		if err != nil || json.Unmarshal(answer.Body, &page) != nil || len(page.Messages) != pageMessages {
			b.Fatalf("%v %s", err, answer)
		}
		client, direct := newWire(b, server.URL), newReader(b, url, session)
		compare(b, "QU-4", shortTurns, pagesPerRound,
			func(int) time.Duration {
				return timed(b, pagesPerRound, func() error {
					if status, err := client.send(http.MethodGet, path, ""); err != nil || status != http.StatusOK {
						return fmt.Errorf("status %d, %w", status, err)
					}
					return nil
				})
			},
			func(int) time.Duration {
				return timed(b, pagesPerRound, func() error {
					if err := direct.page(b.Context()); err != nil {
						return err
					}
					return json.NewEncoder(io.Discard).Encode(page)
				})
			})
	})
}

// BenchmarkHistoryLookup measures how the changes of 50 delegations are found, one
// statement for all of them, against one query per execution (QU-4). Both are
// prepared, and read the same rows.
func BenchmarkHistoryLookup(b *testing.B) {
	eachURL(b, func(b *testing.B, url string) {
		server := process.Start(b, url)
		direct := newReader(b, url, delegatedWork(b, server.Client, manyDelegations))
		compare(b, "QU-4", shortTurns, lookupsPerRound,
			func(int) time.Duration {
				return timed(b, lookupsPerRound, func() error { return direct.changes(b.Context()) })
			},
			func(int) time.Duration {
				return timed(b, lookupsPerRound, func() error { return direct.changesOneByOne(b.Context()) })
			})
	})
}

func eachURL(b *testing.B, f func(b *testing.B, url string)) {
	b.Run("sqlite", func(b *testing.B) { f(b, dbtest.SQLiteURL(b)) })
	b.Run("postgres", func(b *testing.B) { f(b, dbtest.PostgresURL(b)) })
}

func timed(b *testing.B, n int, do func() error) time.Duration {
	b.Helper()
	start := time.Now()
	for range n {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

// delegatedWork makes a session with a page of messages of which so many delegate,
// each to a child of its own that changes files, and returns its id.
func delegatedWork(b *testing.B, client *process.Client, delegations int) string {
	b.Helper()
	s := client.NewScene(b)
	var messages []any
	for i := range pageMessages {
		m := map[string]any{"role": "assistant", "content": strings.Repeat("What was done, and why. ", 17)}
		if i < delegations {
			m["tool_calls"] = []any{map[string]any{"id": fmt.Sprintf("call%d", i), "name": "delegate", "arguments": `{"prompt":"do it"}`}}
		}
		messages = append(messages, m)
	}
	s.Must(b, 200, "POST", s.SessionPath("/messages"), map[string]any{"messages": messages})
	for i := range delegations {
		child := s.Must(b, 201, "POST", s.TaskPath("/sessions"), map[string]any{"kind": "subagent", "parent_session_id": s.Session}).Text("id")
		run := s.Must(b, 201, "POST", s.SessionPath("/subagent-executions"),
			map[string]any{"parent_tool_call_id": fmt.Sprintf("call%d", i), "child_session_id": child, "tool": "delegate"}).Text("id")
		var changes []any
		for k := range changesPerRun {
			line := fmt.Sprintf("line %d of the file that is changed\n", k)
			changes = append(changes, map[string]any{
				"path": fmt.Sprintf("folder/file%d.go", k), "change_type": "MODIFIED",
				"before_content": strings.Repeat(line, 8), "after_content": strings.Repeat(line, 9),
			})
		}
		s.Must(b, 200, "POST", "/v1/sessions/"+child+"/messages",
			map[string]any{"messages": []any{map[string]any{"role": "assistant", "content": "done", "file_changes": changes}}})
		s.Must(b, 200, "PATCH", "/v1/subagent-executions/"+run, map[string]any{"status": "completed"})
	}
	return s.Session
}

// reader runs the statements of a page straight on the driver.
type reader struct {
	db        *sql.DB
	session   string
	statement [statementsOfPage]*sql.Stmt
	runs, one *sql.Stmt // of the way of one query per execution
}

// newReader learns the statements from the store, so they are the same.
func newReader(b *testing.B, url, session string) *reader {
	b.Helper()
	store, texts := dbtest.Open(b, db.Options{URL: url}), []string{}
	dbtest.Probe(b, store, func(when dbtest.When, text string) error {
		if when == dbtest.Before {
			texts = append(texts, text)
		}
		return nil
	})
	service := history.NewService(store.History(), domain.SystemClock, event.NewAnnouncer(nil, slog.New(slog.DiscardHandler)), subagent.DefaultDelegationTools)
	if _, err := service.Messages(b.Context(), session, history.PageQuery{Limit: new(pageMessages)}); err != nil {
		b.Fatal(err)
	}
	r := &reader{db: openReader(b, url), session: session}
	prepare := func(text string) *sql.Stmt {
		st, err := r.db.PrepareContext(b.Context(), text)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = st.Close() })
		return st
	}
	n := 0
	for _, text := range texts {
		if text == "COMMIT" || strings.HasPrefix(text, "BEGIN") {
			continue
		}
		if n == statementsOfPage {
			b.Fatalf("a page takes more statements: %q", texts)
		}
		r.statement[n] = prepare(text)
		n++
	}
	r.runs = prepare(`SELECT child_session_id, start_message_seq, end_message_seq FROM subagent_executions
WHERE parent_session_id = $1 AND parent_message_seq BETWEEN 1 AND 50 AND status <> 'running'`)
	r.one = prepare(`SELECT * FROM message_file_changes WHERE session_id = $1 AND message_seq > $2 AND message_seq <= $3 ORDER BY message_seq, ordinal`)
	return r
}

// openReader opens a database as the service does for reading.
func openReader(b *testing.B, url string) *sql.DB {
	b.Helper()
	path, ok := strings.CutPrefix(url, "sqlite:")
	if !ok {
		return openRaw(b, url)
	}
	database, err := sql.Open("sqlite", "file:"+path+"?_txlock=deferred&_pragma=busy_timeout(5000)&_pragma=query_only(1)&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)&_pragma=mmap_size(268435456)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = database.Close() })
	return database
}

func (r *reader) page(ctx context.Context) error {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for i, args := range [][]any{
		{r.session, int64(math.MaxInt64)},
		{r.session, 0, int64(math.MaxInt64), pageMessages + 1},
		r.workArgs(),
	} {
		st := tx.StmtContext(ctx, r.statement[i]) //nolint:sqlclosecheck // the transaction closes it
		if err := drain(st.QueryContext(ctx, args...)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (r *reader) workArgs() []any { return []any{r.session, 1, pageMessages, smallTexts} }

// smallTexts is the size of texts, in bytes, that are read with their rows.
const smallTexts = 4 << 10

func (r *reader) changes(ctx context.Context) error {
	return drain(r.statement[2].QueryContext(ctx, r.workArgs()...))
}

func (r *reader) changesOneByOne(ctx context.Context) error {
	rows, err := r.runs.QueryContext(ctx, r.session)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var runs [][]any
	for rows.Next() {
		var child string
		var start, end int64
		if err := rows.Scan(&child, &start, &end); err != nil {
			return err
		}
		runs = append(runs, []any{child, start, end})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(runs) != manyDelegations {
		return fmt.Errorf("%d runs", len(runs))
	}
	for _, run := range runs {
		if err := drain(r.one.QueryContext(ctx, run...)); err != nil {
			return err
		}
	}
	return nil
}
