package storetest

import (
	"context"
	"log/slog"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// failer is a test, or one run of a property.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// historyWorld is a task with a main session, and the operations on what was said
// and done in it.
type historyWorld struct {
	*world
	history *history.Service
	runs    *subagent.Executions
	taskID  string
	main    session.Session
}

func historyCases(t *testing.T, open Open, tests map[string]func(*testing.T, *historyWorld)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newHistoryWorld(t, newWorld(t, open))) })
	}
}

func newHistoryWorld(t *testing.T, w *world) *historyWorld {
	t.Helper()
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	h := &historyWorld{
		world:   w,
		history: history.NewService(w.store.History(), w.clock, announce, subagent.DefaultDelegationTools),
		runs:    subagent.NewExecutions(w.store.Executions(), w.clock, announce),
		taskID:  w.task().ID,
	}
	h.main = h.mainIn("/w")
	return h
}

// lifecycle is the operations that cut across, on the store.
func (w *historyWorld) lifecycle() *lifecycle.Service {
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(w.t.Output(), nil)))
	return lifecycle.NewService(w.store.Lifecycle(), w.sessions, w.clock, announce)
}

// contextsOf are the subagent contexts of a session, in the order of SC-11.
func (w *historyWorld) contextsOf(t failer, sessionID string) []subagent.Context {
	t.Helper()
	found, err := w.store.ContextReader().Contexts(w.t.Context(), subagent.ContextFilter{SessionID: sessionID}, nil, math.MaxInt32)
	if err != nil {
		t.Fatalf("read contexts: %v", err)
	}
	return found
}

// mainIn makes a main session with a workspace.
func (w *historyWorld) mainIn(workspace string) session.Session {
	w.t.Helper()
	s, _, err := w.sessions.Create(w.t.Context(), session.New{TaskID: w.taskID, Kind: session.KindMain, WorkspacePath: &workspace})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// child makes a subagent session below parent.
func (w *historyWorld) child(parent session.Session) session.Session {
	w.t.Helper()
	s, _, err := w.sessions.Create(w.t.Context(), session.New{
		TaskID: w.taskID, Kind: session.KindSubagent, ParentSessionID: &parent.ID, AgentType: new("coder"),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// say appends messages and returns what became of them.
func (w *historyWorld) say(t failer, to session.Session, batch ...history.NewMessage) history.AppendResult {
	t.Helper()
	r, err := w.history.Append(w.t.Context(), w.taskID, to.ID, batch)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return r
}

// user is a message that opens a round.
func user() history.NewMessage { return history.NewMessage{Role: session.RoleUser, Content: "go on"} }

// works is a message that changes files.
func works(paths ...string) history.NewMessage {
	m := history.NewMessage{Role: session.RoleAssistant, Content: "done"}
	for _, path := range paths {
		m.FileChanges = append(m.FileChanges, history.ReportedChange{Path: path, ChangeType: history.Created, AfterContent: new("a\nb\n")})
	}
	return m
}

// delegates is a message that issues calls of a delegation tool.
func delegates(callIDs ...string) history.NewMessage {
	m := history.NewMessage{Role: session.RoleAssistant}
	for _, id := range callIDs {
		m.ToolCalls = append(m.ToolCalls, session.ToolCall{ID: id, Name: "Task", Arguments: "{}"})
	}
	return m
}

// start starts a run of child.
func (w *historyWorld) start(t failer, child session.Session, callID string) subagent.Execution {
	t.Helper()
	e, _, err := w.runs.Start(w.t.Context(), w.startOf(child, callID))
	if err != nil {
		t.Fatalf("start execution: %v", err)
	}
	return e
}

func (w *historyWorld) startOf(child session.Session, callID string) subagent.ExecutionStart {
	return subagent.ExecutionStart{
		TaskID: w.taskID, ParentSessionID: *child.ParentSessionID, ChildSessionID: child.ID, ParentToolCallID: callID, Tool: "Task",
	}
}

func (w *historyWorld) end(t failer, e subagent.Execution) subagent.Execution {
	t.Helper()
	e, err := w.runs.End(w.t.Context(), w.taskID, e.ID, subagent.ExecutionCompleted)
	if err != nil {
		t.Fatalf("end execution: %v", err)
	}
	return e
}

// insert stores an execution as no operation would.
func (w *historyWorld) insert(t failer, e subagent.Execution) {
	t.Helper()
	e.TaskID, e.StartedAt, e.UpdatedAt = w.taskID, w.clock(), w.clock()
	if e.ID == "" {
		e.ID = domain.NewID()
	}
	err := w.store.Executions().InTx(w.t.Context(), w.taskID, func(ctx context.Context, tx subagent.ExecutionTx) error {
		if _, err := tx.LockTask(ctx, w.taskID); err != nil {
			return err
		}
		_, err := tx.InsertExecution(ctx, e)
		return err
	})
	if err != nil {
		t.Fatalf("insert execution: %v", err)
	}
}

// read reads a page.
func (w *historyWorld) read(t failer, of session.Session, q history.PageQuery) history.Page {
	t.Helper()
	page, err := w.history.Messages(w.t.Context(), of.ID, q)
	if err != nil {
		t.Fatalf("read history: %v", err)
	}
	return page
}

// wantShown compares the paths that the messages of a session show, by their seq;
// messages that show none are left out.
func (w *historyWorld) wantShown(t failer, of session.Session, want map[int64][]string) {
	t.Helper()
	wantPaths(t, w.read(t, of, history.PageQuery{Limit: new(200)}), want)
}

// wantPaths is that for a page.
func wantPaths(t failer, page history.Page, want map[int64][]string) {
	t.Helper()
	if diff := cmp.Diff(want, shownPaths(page)); diff != "" {
		t.Errorf("history differs:\n%s", diff)
	}
}

func shownPaths(page history.Page) map[int64][]string {
	got := map[int64][]string{}
	for _, m := range page.Messages {
		for _, c := range m.FileChanges {
			got[m.Seq] = append(got[m.Seq], c.PathKey)
		}
	}
	return got
}

func seqsOf(page history.Page) []int64 {
	seqs := []int64{}
	for _, m := range page.Messages {
		seqs = append(seqs, m.Seq)
	}
	return seqs
}
