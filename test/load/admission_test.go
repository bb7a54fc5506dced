package load_test

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// BenchmarkAdmission measures direct admissions with three comments over HTTP: QU-1
// on SQLite with one client, QU-3 on PostgreSQL with 16 and 64. Every prompt is the
// first of its task.
func BenchmarkAdmission(b *testing.B) {
	b.Run("sqlite/clients=1", func(b *testing.B) {
		const each = 100
		tasks := each * (shortTurns + 1)
		ourURL, rawURL := dbtest.SQLiteURL(b), dbtest.SQLiteURL(b)
		_ = seed(b, ourURL, tasks).Close()
		raw := newRaw(b, seed(b, rawURL, tasks))
		ours := newAdmitter(b, ourURL, 1)
		compare(b, shortTurns, each,
			func(round int) time.Duration { return ours.admit(b, each*round, each) },
			func(round int) time.Duration { return raw.admit(b, each*round, each) })
	})
	for clients, each := range map[int]int{16: 150, 64: 50} {
		b.Run(fmt.Sprintf("postgres/clients=%d", clients), func(b *testing.B) {
			tasks := clients * each * (longTurns + 1)
			server := dbtest.DurablePostgres(b)
			ourURL, rawURL := server.NewURL(b), server.NewURL(b)
			_ = seed(b, ourURL, tasks).Close()
			_ = seed(b, rawURL, tasks).Close()
			ours := newAdmitter(b, ourURL, clients)
			compare(b, longTurns, clients*each,
				func(round int) time.Duration { return ours.admit(b, clients*each*round, each) },
				func(round int) time.Duration { return runPgbench(b, rawURL, clients, clients*each*round, each) })
		})
	}
}

// admitter sends prompts to a server from so many clients at once. They are as light
// as can be: what is measured is the server.
type admitter struct {
	clients []*wire
}

func newAdmitter(b *testing.B, url string, clients int) *admitter {
	b.Helper()
	server := process.Start(b, url, "--log-level=info") // as it is by default
	a := &admitter{}
	for range clients {
		a.clients = append(a.clients, newWire(b, server.URL))
	}
	return a
}

// admit has each client admit the prompts of its tasks, which are numbered from first.
func (a *admitter) admit(b *testing.B, first, each int) time.Duration {
	b.Helper()
	var done sync.WaitGroup
	start := time.Now()
	for i, c := range a.clients {
		done.Go(func() {
			for n := range each {
				if status := c.admit(first + i*each + n); status != http.StatusCreated {
					b.Errorf("status %d", status)
					return
				}
			}
		})
	}
	done.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return time.Since(start)
}

// wire is a connection that is kept.
type wire struct {
	host string
	conn net.Conn
	in   *bufio.Reader
}

func newWire(b *testing.B, url string) *wire {
	b.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", host)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &wire{host, conn, bufio.NewReader(conn)}
}

// admit sends the prompt of a task and returns the status of the answer, 0 for none.
func (w *wire) admit(n int) int {
	var named []any
	for k := range 3 {
		named = append(named, map[string]any{"id": commentID(k, n), "version": 1})
	}
	body, err := json.Marshal(map[string]any{"client_message_id": "m", "content": content, "plan_comment_refs": named})
	if err != nil {
		return 0
	}
	return w.send("POST", "/v1/tasks/"+id(taskPrefix, n)+"/sessions/"+id(sessionPrefix, n)+"/prompts", string(body))
}

func (w *wire) send(method, path, body string) int {
	_, err := fmt.Fprintf(w.conn, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, w.host, process.AdminToken, len(body), body)
	if err != nil {
		return 0
	}
	answer, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0
	}
	return answer.StatusCode
}

// raw runs the statements of an admission, prepared, straight on the driver.
type raw struct {
	db       *sql.DB
	list     []statement
	prepared []*sql.Stmt
}

func newRaw(b *testing.B, db *sql.DB) *raw {
	b.Helper()
	r := &raw{db: db, list: admission()}
	for _, s := range r.list {
		st, err := db.PrepareContext(b.Context(), strings.ReplaceAll(s.sql, lock, ""))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = st.Close() })
		r.prepared = append(r.prepared, st)
	}
	return r
}

func (r *raw) admit(b *testing.B, first, count int) time.Duration {
	b.Helper()
	start := time.Now()
	for n := range count {
		if err := r.one(b, first+n); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

func (r *raw) one(b *testing.B, n int) error {
	tx, err := r.db.BeginTx(b.Context(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for i, s := range r.list {
		st := tx.StmtContext(b.Context(), r.prepared[i])
		if strings.HasPrefix(s.sql, "SELECT") {
			err = drain(st.QueryContext(b.Context(), s.args(n)...))
		} else {
			_, err = st.ExecContext(b.Context(), s.args(n)...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.sql, err)
		}
	}
	return tx.Commit()
}

// drain reads rows to their end, every value of them.
func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values := make([]any, len(columns))
	for i := range values {
		values[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			return err
		}
	}
	return rows.Err()
}
