package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/feed"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// world is a store of tasks that have nothing but a plan, and a guard.
type world struct {
	*feed.Service

	hub     *event.Hub
	reads   atomic.Int64
	checks  atomic.Int64
	slow    time.Duration // how long a reading takes
	closed  map[feed.Reason]int
	opened  int
	mu      sync.Mutex
	tasks   map[string]task.Task
	revoked map[string]bool
	broken  error
	panics  bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{hub: event.NewHub(), tasks: map[string]task.Task{"a": {ID: "a"}}, closed: make(map[feed.Reason]int), revoked: map[string]bool{}}
	w.Service = feed.NewService(feed.Config{
		Store: w, Waker: w.hub, Guard: w, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Observer: w, Limit: 2000,
		Encode: func(p feed.Payload) ([]byte, error) { return json.Marshal(p) },
	})
	return w
}

// saves commits a change of the plan of task a, and tells nobody.
func (w *world) saves() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tasks["a"]
	t.ChangeSeq++
	t.PlanSeq = t.ChangeSeq
	w.tasks["a"] = t
	return t.ChangeSeq
}

// changes is saves that is told.
func (w *world) changes() { w.hub.Wake("a", w.saves()) }

func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// InRead implements feed.Store.
func (w *world) InRead(ctx context.Context, fn func(context.Context, feed.ReadTx) error) error {
	w.reads.Add(1)
	w.mu.Lock()
	snapshot := &reading{tasks: maps.Clone(w.tasks)}
	broken := w.broken
	w.mu.Unlock()
	if w.slow > 0 {
		time.Sleep(w.slow)
	}
	if broken != nil {
		return broken
	}
	if w.panics {
		panic("what people wrote")
	}
	return fn(ctx, snapshot)
}

// Numbers implements feed.Store.
func (w *world) Numbers(_ context.Context, ids []string) (map[string]int64, error) {
	w.checks.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	numbers := map[string]int64{}
	for _, id := range ids {
		if t, ok := w.tasks[id]; ok {
			numbers[id] = t.ChangeSeq
		}
	}
	return numbers, w.broken
}

// StillInForce implements feed.Guard.
func (w *world) StillInForce(_ context.Context, c access.Caller) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.revoked[c.TokenID] {
		return access.ErrUnauthenticated
	}
	return w.broken
}

// Opened implements feed.Observer.
func (w *world) Opened() { w.set(func() { w.opened++ }) }

// Closed implements feed.Observer.
func (w *world) Closed(r feed.Reason) { w.set(func() { w.closed[r]++ }) }

// reading is a snapshot of a world. What it does not implement is never asked.
type reading struct {
	feed.ReadTx

	tasks map[string]task.Task
}

func (r *reading) Task(_ context.Context, id string) (task.Task, error) {
	if t, ok := r.tasks[id]; ok {
		return t, nil
	}
	return task.Task{}, task.ErrNotFound
}

func (r *reading) TaskSessions(context.Context, string) ([]session.Session, error) { return nil, nil }

func (r *reading) SessionsAfter(context.Context, string, int64) ([]session.Session, error) {
	return nil, nil
}

func (r *reading) PlanVersion(_ context.Context, id string) (string, int64, error) {
	return "p", r.tasks[id].PlanSeq, nil
}

func (r *reading) CommentsSnapshot(context.Context, string) (plan.Snapshot, error) {
	return plan.Snapshot{}, plan.ErrNotFound
}

func (r *reading) RunningExecutionsOf(context.Context, string) ([]feed.Execution, error) {
	return nil, nil
}

func (w *world) open(t *testing.T, since *int64) *feed.Stream {
	t.Helper()
	s, err := w.Open(access.Caller{TokenID: "t"}, "a", since)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ready opens a stream that has got what it is owed.
func (w *world) ready(t *testing.T) *feed.Stream {
	t.Helper()
	s := w.open(t, nil)
	next(t, s)
	return s
}

func next(t *testing.T, s *feed.Stream) feed.Batch {
	t.Helper()
	b, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// quiet fails the test when a stream is owed something.
func quiet(t *testing.T, s *feed.Stream) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if b, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("owed %v, %v", b, err)
	}
}

func namesOf(b feed.Batch) (names []feed.Name) {
	for _, e := range b.Events {
		names = append(names, e.Name())
	}
	return names
}

func inWorld(t *testing.T, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t)) })
}
