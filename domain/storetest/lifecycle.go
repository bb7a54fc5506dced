package storetest

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// Lifecycle is what every lifecycle.Store must do.
func Lifecycle(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *lifecycleWorld){
		"HI-10 a terminal session ends its runs and turns": endSession,
		"terminal is final":                               endSessionOnce,
		"EV-1 the end tells of every session once":        endSessionTells,
		"AD-7 DL-9 receipts outlive their session":        deleteSessionKeepsReceipts,
		"HI-25 changes of a deleted child stay":           deleteChild,
		"a deleted primary session leaves none":           deletePrimary,
		"PC-8 a deleted task takes all with it":           deleteTask,
		"API-22 another task's session is none":           deleteForeign,
		"HI-25 the id of a deleted session is not reused": deletedSessionID,
		"API-22 deleted ids stay in their workspace":      deletedTaskID,
	} {
		t.Run(name, func(t *testing.T) { test(t, newLifecycleWorld(t, open)) })
	}
	for name, test := range resets {
		t.Run(name, func(t *testing.T) { test(t, newLifecycleWorld(t, open)) })
	}
}

// lifecycleWorld is a task with everything below it.
type lifecycleWorld struct {
	*historyWorld
	prompts *promptWorld
	cycle   *lifecycle.Service
}

func newLifecycleWorld(t *testing.T, open Open) *lifecycleWorld {
	t.Helper()
	w := newWorld(t, open)
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	return &lifecycleWorld{
		newHistoryWorld(t, w), newPromptWorld(t, w),
		lifecycle.NewService(w.store.Lifecycle(), w.sessions, w.clock, announce),
	}
}

func endSession(t *testing.T, w *lifecycleWorld) {
	child := w.child(w.main)
	turn := w.turn(w.main)
	run := w.start(t, child, "call")
	got, err := w.cycle.UpdateSession(t.Context(), w.taskID, w.main.ID, session.Patch{State: new(session.StateFailed)})
	if err != nil || got.State != session.StateFailed {
		t.Fatalf("end: %+v, %v", got, err)
	}
	page, err := w.sessions.Turns(t.Context(), w.main.ID, domain.PageRequest{})
	if err != nil || page.Items[0].ID != turn.ID || page.Items[0].State != session.TurnFailed || page.Items[0].EndedAt == nil {
		t.Errorf("turns are %+v, %v", page.Items, err)
	}
	runs, err := w.runs.List(t.Context(), w.main.ID, domain.PageRequest{})
	if err != nil || runs.Items[0].ID != run.ID || runs.Items[0].Status != subagent.ExecutionFailed {
		t.Errorf("runs are %+v, %v", runs.Items, err)
	}
	w.wantState(child.ID, session.StateCreated)
}

func endSessionTells(t *testing.T, w *lifecycleWorld) {
	patch := session.Patch{State: new(session.StateFailed), AutoRun: new(false)}
	end := func(s session.Session) []event.SessionChange {
		w.notices.take()
		if _, err := w.cycle.UpdateSession(t.Context(), w.taskID, s.ID, patch); err != nil {
			t.Fatal(err)
		}
		return w.notices.take()[0].Change.Sessions
	}
	child, other := w.child(w.main), w.child(w.main)
	w.start(t, child, "call")
	w.start(t, other, "other call")
	want := []event.SessionChange{
		{SessionID: w.main.ID, Messages: true, Executions: true},
		{SessionID: child.ID, Queue: true},
	}
	if diff := cmp.Diff(want, end(child)); diff != "" {
		t.Errorf("the end of a child (-want +got):\n%s", diff)
	}
	want = []event.SessionChange{{SessionID: w.main.ID, Queue: true, Messages: true, Executions: true}}
	if diff := cmp.Diff(want, end(w.main)); diff != "" {
		t.Errorf("the end of its parent (-want +got):\n%s", diff)
	}
	if got, err := w.sessions.Get(t.Context(), w.main.ID); err != nil || got.QueueRevision != 1 || got.AutoRun {
		t.Errorf("DL-11: session is %+v, %v", got, err)
	}
}

func endSessionOnce(t *testing.T, w *lifecycleWorld) {
	end := func(s session.State) error {
		_, err := w.cycle.UpdateSession(t.Context(), w.taskID, w.main.ID, session.Patch{State: &s})
		return err
	}
	if err := errors.Join(end(session.StateCompleted), end(session.StateCompleted)); err != nil {
		t.Fatal(err)
	}
	wantErr(t, end(session.StateCancelled), session.ErrUnavailable)
	wantErr(t, end(session.StateIdle), session.ErrUnavailable)
}

func deleteSessionKeepsReceipts(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	attempted := p.admit(t, p.request("attempted"))
	held, err := p.prompts.Reserve(t.Context(), p.taskID, p.sessionID, nil)
	if err != nil || held == nil {
		t.Fatalf("reserve: %v, %v", held, err)
	}
	if _, err := p.prompts.Attempt(t.Context(), p.taskID, held.Delivery.ID, held.Token); err != nil {
		t.Fatal(err)
	}
	if _, err := w.sessions.EndTurn(t.Context(), p.taskID, *w.delivery(t, attempted.Delivery.ID).TurnID, session.TurnCompleted); err != nil {
		t.Fatal(err)
	}
	pending := p.admit(t, p.request("pending", p.comment(t)))

	if err := w.cycle.DeleteSession(t.Context(), p.taskID, p.sessionID); err != nil {
		t.Fatal(err)
	}
	_, err = w.sessions.Get(t.Context(), p.sessionID)
	wantErr(t, err, session.ErrNotFound)
	if d := w.delivery(t, attempted.Delivery.ID); d.State != prompt.StateOutcomeUnknown || d.OutcomeUnknownAt == nil {
		t.Errorf("attempted is %s", d.State)
	}
	if d := w.delivery(t, pending.Delivery.ID); d.State != prompt.StateDiscarded || d.DiscardedAt == nil {
		t.Errorf("pending is %s", d.State)
	}
	again, err := p.prompts.AdmitPrompt(t.Context(), p.request("attempted"))
	if err != nil || !again.Replayed || again.Delivery.ID != attempted.Delivery.ID {
		t.Errorf("replay: %+v, %v", again, err)
	}
	receipt, err := p.prompts.Receipt(t.Context(), p.taskID, "pending")
	if err != nil || len(receipt.Admission.ConsumedCommentRefs) != 1 {
		t.Errorf("receipt: %+v, %v", receipt, err)
	}
}

func (w *lifecycleWorld) delivery(t *testing.T, id string) prompt.Delivery {
	t.Helper()
	d, err := w.prompts.prompts.Delivery(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func deleteChild(t *testing.T, w *lifecycleWorld) {
	child := w.child(w.main)
	w.say(t, w.main, delegates("call"))
	run := w.start(t, child, "call")
	w.say(t, child, works("a.go"))
	w.end(t, run)
	shown := map[int64][]string{1: {"a.go"}}
	w.wantShown(t, w.main, shown)
	if err := w.cycle.DeleteSession(t.Context(), w.taskID, child.ID); err != nil {
		t.Fatal(err)
	}
	w.wantShown(t, w.main, shown)
}

func deletePrimary(t *testing.T, w *lifecycleWorld) {
	if err := w.cycle.DeleteSession(t.Context(), w.taskID, w.main.ID); err != nil {
		t.Fatal(err)
	}
	got, err := w.tasks.Get(t.Context(), w.taskID)
	if err != nil || got.PrimarySessionID != nil {
		t.Errorf("primary is %v, %v", got.PrimarySessionID, err)
	}
	wantErr(t, w.cycle.DeleteSession(t.Context(), w.taskID, w.main.ID), session.ErrNotFound)
}

func deleteTask(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	p.admit(t, p.request("c1", p.comment(t)))
	if err := w.cycle.DeleteTask(t.Context(), p.taskID); err != nil {
		t.Fatal(err)
	}
	_, err := w.tasks.Get(t.Context(), p.taskID)
	wantErr(t, err, task.ErrNotFound)
	_, err = p.prompts.Receipt(t.Context(), p.taskID, "c1")
	wantErr(t, err, prompt.ErrAdmissionNotFound)
	_, err = p.plans.Get(t.Context(), p.taskID)
	wantErr(t, err, plan.ErrNotFound)
	wantErr(t, w.cycle.DeleteTask(t.Context(), p.taskID), task.ErrNotFound)
}

func deleteForeign(t *testing.T, w *lifecycleWorld) {
	wantErr(t, w.cycle.DeleteSession(t.Context(), w.task().ID, w.main.ID), session.ErrNotFound)
	_, err := w.cycle.UpdateSession(t.Context(), w.task().ID, w.main.ID, session.Patch{State: new(session.StateFailed)})
	wantErr(t, err, session.ErrNotFound)
}

func deletedSessionID(t *testing.T, w *lifecycleWorld) {
	n := session.New{ID: domain.NewID(), TaskID: w.taskID, Kind: session.KindMain}
	if _, _, err := w.sessions.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if err := w.cycle.DeleteSession(t.Context(), w.taskID, n.ID); err != nil {
		t.Fatal(err)
	}
	for _, taskID := range []string{w.taskID, w.task().ID} {
		n.TaskID = taskID
		_, _, err := w.sessions.Create(t.Context(), n)
		wantErr(t, err, session.ErrConflict)
	}
	if _, err := w.sessions.Get(t.Context(), n.ID); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("a refused session is there: %v", err)
	}
}

func deletedTaskID(t *testing.T, w *lifecycleWorld) {
	other, err := w.access.CreateWorkspace(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	taskID, sessionID := w.taskID, w.main.ID
	if err := w.cycle.DeleteTask(t.Context(), taskID); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.tasks.Create(t.Context(), task.New{ID: taskID, WorkspaceID: other.ID, Title: "theirs"})
	wantErr(t, err, task.ErrConflict)
	theirs, _, err := w.tasks.Create(t.Context(), task.New{WorkspaceID: other.ID, Title: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = w.sessions.Create(t.Context(), session.New{ID: sessionID, TaskID: theirs.ID, Kind: session.KindMain})
	wantErr(t, err, session.ErrConflict)
	if _, _, err := w.tasks.Create(t.Context(), task.New{ID: taskID, WorkspaceID: w.workspaceID, Title: "again"}); err != nil {
		t.Errorf("its own workspace makes it again: %v", err)
	}
	if _, _, err := w.sessions.Create(t.Context(), session.New{ID: sessionID, TaskID: taskID, Kind: session.KindMain}); err != nil {
		t.Errorf("its own workspace makes its session again: %v", err)
	}
}
