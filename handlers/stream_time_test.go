package handlers_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/feed"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
	"gatehouse/gen"
	"gatehouse/handlers"
)

// airwaves is a server of events of one task, whose only comment is as long as a test
// wants it, on connections without a buffer and in time that waits.
type airwaves struct {
	feed.ReadTx

	t   *testing.T
	hub *event.Hub
	api *handlers.API
	l   *pipes

	mu      sync.Mutex
	number  int64
	comment string
	revoked bool
	closed  map[feed.Reason]int
	reads   int
}

func onAir(t *testing.T, f func(t *testing.T, a *airwaves)) {
	synctest.Test(t, func(t *testing.T) {
		a := &airwaves{t: t, hub: event.NewHub(), l: &pipes{conns: make(chan net.Conn)}, closed: make(map[feed.Reason]int), comment: "short"}
		a.api = &handlers.API{Feed: feed.NewService(feed.Config{
			Store: a, Waker: a.hub, Guard: a, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Encode: handlers.EncodeEvent, Observer: a,
		})}
		server := &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(a.l) }()
		defer func() { _ = server.Close() }()
		f(t, a)
	})
}

// ServeHTTP is the operation without what stands before it.
func (a *airwaves) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := a.api.StreamEvents(r.Context(), gen.StreamEventsRequestObject{})
	if err == nil {
		err = answer.VisitStreamEventsResponse(w)
	}
	if err != nil {
		a.t.Errorf("stream: %v", err)
	}
}

// InRead implements feed.Store.
func (a *airwaves) InRead(ctx context.Context, fn func(context.Context, feed.ReadTx) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reads++
	return fn(ctx, a)
}

// Numbers implements feed.Store.
func (a *airwaves) Numbers(context.Context, []string) (map[string]int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return map[string]int64{"": a.number}, nil
}

// StillInForce implements feed.Guard.
func (a *airwaves) StillInForce(context.Context, access.Caller) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.revoked {
		return access.ErrUnauthenticated
	}
	return nil
}

// Opened implements feed.Observer.
func (a *airwaves) Opened() {}

// Closed implements feed.Observer.
func (a *airwaves) Closed(why feed.Reason) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed[why]++
}

func (a *airwaves) Task(context.Context, string) (task.Task, error) {
	return task.Task{ChangeSeq: a.number, CommentsSeq: a.number}, nil
}

func (a *airwaves) TaskSessions(context.Context, string) ([]session.Session, error) { return nil, nil }

func (a *airwaves) SessionsAfter(context.Context, string, int64) ([]session.Session, error) {
	return nil, nil
}

func (a *airwaves) PlanVersion(context.Context, string) (string, int64, error) {
	return "", 0, plan.ErrNotFound
}

func (a *airwaves) CommentsSnapshot(context.Context, string) (plan.Snapshot, error) {
	return plan.Snapshot{PlanID: "p", Revision: a.number, Comments: []plan.Comment{{Body: a.comment}}}, nil
}

func (a *airwaves) RunningExecutionsOf(context.Context, string) ([]feed.Execution, error) {
	return nil, nil
}

// changes commits a change and tells it.
func (a *airwaves) changes() {
	a.mu.Lock()
	a.number++
	n := a.number
	a.mu.Unlock()
	a.hub.Wake("", n)
}

// why is how often streams ended for a reason.
func (a *airwaves) why(r feed.Reason) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed[r]
}

// dial opens a stream. What is not read is not sent.
func (a *airwaves) dial() net.Conn {
	a.t.Helper()
	c, server := net.Pipe()
	a.l.conns <- server
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		a.t.Fatal(err)
	}
	return c
}

// hears reads lines until one holds a text, and fails when that takes any time.
func (a *airwaves) hears(r *bufio.Reader, text string) {
	a.t.Helper()
	began := time.Now()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			a.t.Fatalf("waiting for %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			if took := time.Since(began); took > 0 {
				a.t.Errorf("%q took %s", text, took)
			}
			return
		}
	}
}

// pipes is a listener of connections in memory.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	c, open := <-p.conns
	if !open {
		return nil, errors.New("closed")
	}
	return c, nil
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.conns) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// EV-5: a comment every 15 seconds of silence, without an id.
func TestStreamHeartbeat(t *testing.T) {
	onAir(t, func(_ *testing.T, a *airwaves) {
		c := a.dial()
		defer func() { _ = c.Close() }()
		r := bufio.NewReader(c)
		a.hears(r, "event: ready")
		a.hears(r, "data: {")
		for range 3 {
			began := time.Now()
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					a.t.Fatal(err)
				}
				if strings.HasPrefix(line, "id") || strings.HasPrefix(line, "data") {
					a.t.Errorf("silence says %q", line)
				}
				if line == ":\n" {
					break
				}
			}
			if took := time.Since(began); took != 15*time.Second {
				a.t.Errorf("after %s", took)
			}
		}
	})
}

// EV-5: who does not read is cut off. Until then, and however much happens, it costs
// nobody time and the server no readings for it, and others are told at once.
func TestStreamOfADeafClient(t *testing.T) {
	onAir(t, func(t *testing.T, a *airwaves) {
		deaf, other := a.dial(), a.dial()
		defer func() { _, _ = deaf.Close(), other.Close() }()
		r := bufio.NewReader(other)
		a.hears(r, "event: ready")
		a.comment = strings.Repeat("x", 1<<20)
		began := time.Now()
		for range 100_000 {
			a.changes()
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("changes took %s", took)
		}
		a.hears(r, `"revision":100000,`)
		if a.reads > 10 {
			t.Errorf("%d readings for two streams that wait", a.reads)
		}
		time.Sleep(5*time.Second + time.Millisecond)
		synctest.Wait()
		if a.why(feed.ReasonSlow) != 1 {
			t.Errorf("closed %v", a.closed)
		}
		a.changes()
		a.hears(r, `"revision":100001,`)
		_ = other.Close()
		time.Sleep(time.Second)
		synctest.Wait()
		if a.why(feed.ReasonLeft) != 1 {
			t.Errorf("closed %v", a.closed)
		}
	})
}

// EV-5: who reads slowly, but reads, gets all of a snapshot.
func TestStreamOfASlowClient(t *testing.T) {
	onAir(t, func(t *testing.T, a *airwaves) {
		a.comment = strings.Repeat("x", 1<<20)
		c := a.dial()
		defer func() { _ = c.Close() }()
		got := strings.Builder{}
		piece := make([]byte, 4<<10)
		for slept := 0; !strings.Contains(got.String(), "event: ready"); {
			if got.Len()/len(piece) > slept {
				time.Sleep(time.Second)
				slept++
			}
			n, err := c.Read(piece)
			if err != nil {
				t.Fatalf("cut off after %d bytes: %v", got.Len(), err)
			}
			got.Write(piece[:n])
		}
	})
}

// EV-6: a token that is revoked ends a stream also while it is being read.
func TestStreamIsRevokedWhileItIsRead(t *testing.T) {
	onAir(t, func(t *testing.T, a *airwaves) {
		a.comment = strings.Repeat("x", 8<<20)
		c := a.dial()
		defer func() { _ = c.Close() }()
		go func() {
			piece := make([]byte, 32<<10)
			for {
				time.Sleep(time.Second)
				if _, err := c.Read(piece); err != nil {
					return
				}
			}
		}()
		time.Sleep(10 * time.Second)
		a.mu.Lock()
		a.revoked = true
		a.mu.Unlock()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if a.why(feed.ReasonRevoked) != 1 {
			t.Errorf("closed %v", a.closed)
		}
	})
}
