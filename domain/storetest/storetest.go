// Package storetest holds what every store of the domain must do, as tests: one
// function per capability, that runs its cases on stores that open returns, each
// empty and migrated.
package storetest

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/feed"
	"gatehouse/domain/history"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// Store is every store of the domain on one database.
type Store interface {
	Access() access.Store
	Tasks() task.Store
	Sessions() session.Store
	Plans() plan.Store
	Prompts() prompt.Store
	History() history.Store
	Executions() subagent.ExecutionStore
	Contexts() subagent.ContextStore
	ContextReader() subagent.ContextReader
	Lifecycle() lifecycle.Store
	Feed() feed.Store
	plan.Lease
}

// Open returns a store of its own for a test.
type Open func(tb testing.TB) Store

// start is when the clock of a [world] starts.
var start = time.Date(2031, 3, 4, 5, 6, 7, 0, time.UTC)

// world is the services on one store, with a workspace to work in.
type world struct {
	t           *testing.T
	store       Store
	notices     *recorder
	clock       domain.Clock
	access      *access.Service
	tasks       *task.Service
	sessions    *session.Service
	workspaceID string
}

// newWorld returns services on a store of their own, whose clock ticks by a
// microsecond at every look.
func newWorld(t *testing.T, open Open) *world {
	t.Helper()
	store, notices, clock := open(t), new(recorder), ticking()
	announce := event.NewAnnouncer(notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	w := &world{
		t: t, store: store, notices: notices, clock: clock,
		access:   access.NewService(store.Access(), clock),
		tasks:    task.NewService(store.Tasks(), clock, announce),
		sessions: session.NewService(store.Sessions(), clock, announce),
	}
	if _, err := w.access.Bootstrap(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	workspace, err := w.access.WorkspaceNamed(t.Context(), access.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	w.workspaceID = workspace.ID
	return w
}

// task makes a task.
func (w *world) task() task.Task {
	w.t.Helper()
	t, _, err := w.tasks.Create(w.t.Context(), task.New{WorkspaceID: w.workspaceID, Title: "Rename the flag"})
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// session makes a session of a task: a main one, or a child of parent.
func (w *world) session(taskID string, kind session.Kind, parent *string) session.Session {
	w.t.Helper()
	s, _, err := w.sessions.Create(w.t.Context(), session.New{TaskID: taskID, Kind: kind, ParentSessionID: parent})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// ticking is a clock that never shows the same time twice.
func ticking() domain.Clock {
	var mu sync.Mutex
	now := start
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Microsecond)
		return now
	}
}

// wantErr fails the test unless err is target.
func wantErr(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}
