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

// BenchmarkAdmission measures direct admissions with three comments over HTTP: on SQLite
// QU-1 with one client and QU-2 with 64, QU-3 on PostgreSQL with 16 and 64. Every prompt
// is the first of its task. Raw is one transaction for each.
func BenchmarkAdmission(b *testing.B) {
	for clients, each := range map[int]int{1: 100, 64: 10} {
		b.Run(fmt.Sprintf("sqlite/clients=%d", clients), func(b *testing.B) {
			turn := clients * each
			tasks := turn * (shortTurns + 1)
			ourURL, rawURL := dbtest.SQLiteURL(b), dbtest.SQLiteURL(b)
			_ = seed(b, ourURL, tasks).Close()
			raw := newRaw(b, seed(b, rawURL, tasks))
			ours := newAdmitter(b, ourURL, clients)
			var client, rawSpent time.Duration // of this process
			ourStart := serverProcessorTime(b, ours.server)
			compare(b, map[int]string{1: "QU-1", 64: "QU-2"}[clients], shortTurns, turn,
				func(round int) time.Duration {
					defer spend(b, &client, ownProcessorTime(b))
					return ours.admit(b, turn*round, each)
				},
				func(round int) time.Duration {
					defer spend(b, &rawSpent, ownProcessorTime(b))
					return raw.admit(b, turn*round, clients, each)
				})
			for unit, spent := range map[string]time.Duration{
				"ours-cpu-ms": serverProcessorTime(b, ours.server) - ourStart, "client-cpu-ms": client, "raw-cpu-ms": rawSpent,
			} {
				b.ReportMetric(spent.Seconds()*1000/float64(tasks), unit)
			}
		})
	}
	for clients, each := range map[int]int{16: 150, 64: 50} {
		b.Run(fmt.Sprintf("postgres/clients=%d", clients), func(b *testing.B) {
			tasks := clients * each * (longTurns + 1)
			server := dbtest.DurablePostgres(b)
			ourURL, rawURL := server.NewURL(b), server.NewURL(b)
			_ = seed(b, ourURL, tasks).Close()
			_ = seed(b, rawURL, tasks).Close()
			ours := newAdmitter(b, ourURL, clients)
			compare(b, "QU-3", longTurns, clients*each,
				func(round int) time.Duration { return ours.admit(b, clients*each*round, each) },
				func(round int) time.Duration { return runPgbench(b, rawURL, clients, clients*each*round, each) })
		})
	}
}

// admitter sends prompts to a server from so many clients at once. They are as light
// as can be: what is measured is the server.
type admitter struct {
	server  *process.Server
	clients []*wire
}

func newAdmitter(b *testing.B, url string, clients int) *admitter {
	b.Helper()
	server := process.Start(b, url, "--log-level=info") // as it is by default
	a := &admitter{server: server}
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
				if status, err := c.admit(first + n*len(a.clients) + i); err != nil || status != http.StatusCreated {
					b.Errorf("task %d: status %d, %v", first+n*len(a.clients)+i, status, err)
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
	return &wire{host, conn, bufio.NewReaderSize(conn, 64<<10)}
}

// admit sends the prompt of a task and returns the status of the answer.
func (w *wire) admit(n int) (int, error) {
	var named []any
	for k := range 3 {
		named = append(named, map[string]any{"id": commentID(k, n), "version": 1})
	}
	body, err := json.Marshal(map[string]any{"client_message_id": "m", "content": content, "plan_comment_refs": named})
	if err != nil {
		return 0, err
	}
	return w.send("POST", "/v1/tasks/"+id(taskPrefix, n)+"/sessions/"+id(sessionPrefix, n)+"/prompts", string(body))
}

func (w *wire) send(method, path, body string) (int, error) {
	_, err := fmt.Fprintf(w.conn, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, w.host, process.AdminToken, len(body), body)
	if err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
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

// admit has so many clients admit the prompts of their tasks, which are numbered from
// first. They share the connection that writes.
func (r *raw) admit(b *testing.B, first, clients, each int) time.Duration {
	b.Helper()
	var done sync.WaitGroup
	start := time.Now()
	for i := range clients {
		done.Go(func() {
			for n := range each {
				if err := r.one(b, first+n*clients+i); err != nil {
					b.Error(err)
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

func (r *raw) one(b *testing.B, n int) error {
	tx, err := r.db.BeginTx(b.Context(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for i, s := range r.list {
		st := tx.StmtContext(b.Context(), r.prepared[i]) //nolint:sqlclosecheck // the transaction closes it
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
