package delivery_test

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gatehouse/test/process"
)

// patience of the servers with an attempt that nobody acknowledges. A runner that is
// stopped long enough acknowledges too late. They look seldom: leases end without them.
var patience = []string{"--acknowledge-timeout=1s", "--recovery-interval=3s"}

// director lets runners go on, one step at a time, and sees to the mishaps.
type director struct {
	url     string
	session []string       // ids
	agent   string         // address
	record  string         // of the agent
	admin   *sql.DB        // cuts connections
	retired sync.WaitGroup // of runners, and of those who replace servers

	mu      sync.Mutex
	random  *rand.Rand
	scenes  []*process.Scene
	servers []*process.Server
	down    []bool // by server: killed, and not replaced yet
	todo    map[point][]mishap
	left    int // of todo
	crew    []*worker
	closed  bool // no runner is started any more
	books   books
}

// newDirector starts agent and servers: two on PostgreSQL, one on SQLite.
func newDirector(t *testing.T, url string, rounds, seed uint64) *director {
	t.Helper()
	d := &director{url: url, random: rand.New(rand.NewPCG(seed, 0)), todo: map[point][]mishap{}, books: newBooks()}
	t.Cleanup(d.close)
	d.agent, d.record = startAgent(t)
	d.servers = append(d.servers, process.Start(t, url, patience...))
	if !d.embedded() {
		d.servers = append(d.servers, process.Start(t, url, patience...))
		d.admin = process.OpenDatabase(t, url)
		d.admin.SetMaxOpenConns(1) // which does not cut itself
	}
	d.down = make([]bool, len(d.servers))
	for range sessions {
		scene := d.servers[0].NewScene(t)
		d.scenes = append(d.scenes, scene)
		d.session = append(d.session, scene.Session)
	}
	d.plan(rounds)
	return d
}

// embedded reports whether the database is a file of its one server.
func (d *director) embedded() bool { return strings.HasPrefix(d.url, "sqlite:") }

// hire starts a runner and follows it until it ends.
func (d *director) hire(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	w := &worker{helper: startHelper(t, roleRunner,
		sessionsVariable+"="+strings.Join(d.session, ","), agentVariable+"="+d.agent)}
	d.crew = append(d.crew, w)
	d.retired.Go(func() { d.follow(t, w) })
}

// follow hears a runner and gives it leave.
func (d *director) follow(t *testing.T, w *worker) {
	for {
		var n notice
		if !w.hear(&n) {
			return
		}
		m, server := d.decide(t, w, n)
		if !m.during && d.happens(t, m, w, server) {
			return
		}
		w.tell(leave{d.address(server)})
		if m.during {
			d.pause()
			if d.happens(t, m, w, server) {
				return
			}
		}
	}
}

// happens lets a mishap happen to a runner or to its server. It reports whether that
// was the end of the runner.
func (d *director) happens(t *testing.T, m mishap, w *worker, server int) bool {
	switch m.what {
	case mishapStop:
		w.stop(t)
	case mishapKill:
		d.replace(t, server)
	case mishapCut:
		d.cut(t)
	case mishapDie:
		d.bury(t, w)
		return true
	}
	return false
}

// bury kills a runner, starts another, and ends the turn that it leaves, as a
// supervisor does. What it had attempted is for recovery (DL-3).
func (d *director) bury(t *testing.T, w *worker) {
	w.kill()
	d.mu.Lock()
	if w.at.Delivery != "" {
		d.books.orphaned[w.at.Delivery] = true
	}
	d.mu.Unlock()
	d.hire(t)
	for w.at.Turn != "" && !t.Failed() {
		answer, err := d.client().Send(t.Context(), "PATCH", "/v1/turns/"+w.at.Turn, map[string]any{"state": "failed"})
		if err == nil && answer.Status == 200 {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.books.ended[w.at.Turn] = true
			return
		}
		time.Sleep(20 * time.Millisecond) // no server, for the moment
	}
}

// decide writes down what a runner said, and chooses what happens to it now, and the
// server of its step.
func (d *director) decide(t *testing.T, w *worker, n notice) (m mishap, server int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.at = n
	if n.After {
		d.books.enter(t, w, n)
	} else if n.Step == stepAcknowledge && !n.Stale {
		d.books.tried[n.Delivery] = n.Outcome
	}
	server = d.random.IntN(len(d.servers))
	if d.random.IntN(2) > 0 {
		return mishap{}, server
	}
	m = d.take(point{n.Step, n.After}, server)
	if m.what == mishapStop && w.holds {
		w.late = true
	}
	if m.what == mishapKill {
		d.down[server] = true
	}
	return m, server
}

// address is that of a server, the last one when it is down.
func (d *director) address(server int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.servers[server].URL
}

// replace kills a server and starts another in its place, meanwhile.
func (d *director) replace(t *testing.T, server int) {
	d.mu.Lock()
	old := d.servers[server]
	d.mu.Unlock()
	old.Kill()
	d.retired.Go(func() {
		s, err := process.TryStart(t, d.url, patience...)
		for tries := 1; err != nil && tries < 10; tries++ {
			s, err = process.TryStart(t, d.url, patience...) // its connection was cut while it started
		}
		if err != nil {
			t.Error(err)
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.servers[server], d.down[server] = s, false
	})
}

// cut ends every connection of the servers to the database.
func (d *director) cut(t *testing.T) {
	_, err := d.admin.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err != nil {
		t.Errorf("cut connections: %v", err)
	}
}

// pause is about as long as a step takes: what happens then happens during it.
func (d *director) pause() {
	d.mu.Lock()
	long := time.Duration(d.random.Int64N(int64(4 * time.Millisecond)))
	d.mu.Unlock()
	time.Sleep(long)
}

// drain waits until nothing is owed or under way any more: nothing is lost.
func (d *director) drain(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(within); !t.Failed() && d.owed(t); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("deliveries are left over")
		}
	}
}

// owed reports whether a delivery is not settled, or no server says.
func (d *director) owed(t *testing.T) bool {
	t.Helper()
	for _, scene := range d.scenes {
		for _, state := range []string{"pending", "reserved", "combined", "attempted"} {
			answer, err := d.client().Send(t.Context(), "GET", scene.TaskPath("/deliveries?state="+state), nil)
			if err != nil || answer.Status != 200 || len(answer.Object().Items("items")) > 0 {
				return true
			}
		}
	}
	return false
}

// client calls a server that is not down.
func (d *director) client() *process.Client {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, s := range d.servers {
		if !d.down[i] {
			return s.Client
		}
	}
	return d.servers[0].Client
}

// close ends what a failed test leaves behind.
func (d *director) close() {
	d.mu.Lock()
	d.closed = true
	for _, w := range d.crew {
		w.kill()
	}
	d.mu.Unlock()
	d.retired.Wait()
}

// dismiss ends the runners.
func (d *director) dismiss(t *testing.T) {
	t.Helper()
	for _, w := range d.crew {
		_ = w.in.Close()
	}
	d.retired.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// worker is a runner as the director sees it.
type worker struct {
	*helper
	at     notice // what it said last
	holds  bool   // a reservation, as far as it was told
	late   bool   // it was stopped past the end of its lease
	unsure bool   // an answer to its release or attempt was lost
}

// stop stops the process until its lease has ended.
func (w *worker) stop(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := w.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		if signal == syscall.SIGSTOP {
			time.Sleep(lapse)
		}
	}
}
