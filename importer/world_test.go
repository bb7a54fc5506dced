package importer_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/db"
	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/storetest"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
	"gatehouse/importer"
	"gatehouse/importer/claudecode"
)

// samples is where real transcripts stand.
const samples = "../testdata/transcripts/claude-code"

// sample is the path of one.
func sample(name string) string { return filepath.Join(samples, name) }

// world is a database to load into, and the domain on it.
type world struct {
	store       *db.Store
	access      *access.Service
	tasks       *task.Service
	sessions    *session.Service
	history     *history.Service
	runs        *subagent.Executions
	contexts    *subagent.Contexts
	counted     *storetest.FrameCounts
	services    importer.Services
	workspaceID string
}

func newWorld(tb testing.TB, store *db.Store) *world {
	tb.Helper()
	announce := event.NewAnnouncer(nil, slog.New(slog.DiscardHandler))
	now, clock := domain.SystemClock, importer.NewClock(domain.SystemClock)
	w := &world{
		store:    store,
		access:   access.NewService(store.Access(), now),
		tasks:    task.NewService(store.Tasks(), clock.Now, announce),
		sessions: session.NewService(store.Sessions(), clock.Now, announce),
		history:  history.NewService(store.History(), now, announce, subagent.DefaultDelegationTools),
		runs:     subagent.NewExecutions(store.Executions(), clock.Now, announce),
		contexts: subagent.NewContexts(store.ContextReader()),
		counted:  &storetest.FrameCounts{},
	}
	w.services = importer.Services{Tasks: w.tasks, Sessions: w.sessions, History: w.history, Executions: w.runs, Clock: clock}
	w.services.Contexts = subagent.NewRecorder(store.Contexts(), clock.Now, slog.New(slog.DiscardHandler), w.counted)
	if _, err := w.access.Bootstrap(tb.Context(), ""); err != nil {
		tb.Fatal(err)
	}
	of, err := w.access.WorkspaceNamed(tb.Context(), access.DefaultWorkspace)
	if err != nil {
		tb.Fatal(err)
	}
	w.workspaceID = of.ID
	return w
}

// load loads all transcripts at the paths.
func (w *world) load(tb testing.TB, paths ...string) *importer.Result {
	tb.Helper()
	result, err := w.tryLoad(tb.Context(), paths...)
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

func (w *world) tryLoad(ctx context.Context, paths ...string) (*importer.Result, error) {
	result := importer.NewResult()
	found, err := claudecode.Discover(paths)
	if err != nil {
		return result, err
	}
	loader := importer.NewLoader(w.services, w.workspaceID)
	for _, t := range found {
		if err := loader.Load(ctx, t, result, nil); err != nil {
			return result, err
		}
	}
	return result, nil
}

// work is everything that a transcript left in the database.
type work struct {
	Task       task.Task
	Sessions   []session.Session
	Turns      map[string][]session.Turn
	Messages   map[string][]history.PageMessage
	Executions map[string][]subagent.Execution
	Contexts   map[string][]subagent.Context
}

// work reads the only task of the default workspace; the zero one when there is none.
func (w *world) work(tb testing.TB) work {
	tb.Helper()
	all := w.works(tb)
	if len(all) == 0 {
		return work{}
	}
	return all[0]
}

// works reads all tasks of the default workspace, by their ids.
func (w *world) works(tb testing.TB) []work {
	tb.Helper()
	tasks, err := w.tasks.List(tb.Context(), task.Filter{WorkspaceID: &w.workspaceID}, domain.PageRequest{Limit: domain.MaxListItems})
	if err != nil {
		tb.Fatal(err)
	}
	slices.SortFunc(tasks.Items, func(a, b task.Task) int { return strings.Compare(a.ID, b.ID) })
	var all []work
	for _, t := range tasks.Items {
		all = append(all, w.workOf(tb, t))
	}
	return all
}

func (w *world) workOf(tb testing.TB, of task.Task) work {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	ctx, all := tb.Context(), domain.PageRequest{Limit: domain.MaxListItems}
	got := work{Task: of, Turns: map[string][]session.Turn{}, Messages: map[string][]history.PageMessage{}, Executions: map[string][]subagent.Execution{}}
	got.Contexts = map[string][]subagent.Context{}
	sessions, err := w.sessions.List(ctx, got.Task.ID, all)
	must(err)
	got.Sessions = sessions.Items
	for _, s := range sessions.Items {
		turns, err := w.sessions.Turns(ctx, s.ID, all)
		must(err)
		runs, err := w.runs.List(ctx, s.ID, all)
		must(err)
		contexts, err := w.contexts.List(ctx, subagent.ContextFilter{SessionID: s.ID}, all)
		must(err)
		got.Turns[s.ID], got.Executions[s.ID], got.Contexts[s.ID] = turns.Items, runs.Items, contexts.Items
		for q := (history.PageQuery{Limit: new(domain.MaxListItems), After: new(int64(0))}); ; {
			page, err := w.history.Messages(ctx, s.ID, q)
			must(err)
			got.Messages[s.ID] = append(got.Messages[s.ID], page.Messages...)
			if !page.HasMore {
				break
			}
			for _, m := range page.Messages {
				*q.After = max(*q.After, m.Seq)
			}
		}
	}
	return got
}
