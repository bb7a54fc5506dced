package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Runs is what every prompt.Store must do with Run (AD-9).
func Runs(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"AD-9 direct to a primary session that can take it": runDirect,
		"AD-9 queued to one that cannot":                    runQueued,
		"AD-9 no primary session":                           runNowhere,
		"AD-9 a terminal primary session":                   runTerminal,
		"AD-9 another primary session is found once":        runMoved,
		"AD-9 and only once":                                runMovedTwice,
		"AD-9 a primary session that turned busy":           runTurnedBusy,
		"AD-9 a primary session that was deleted":           runDeleted,
		"AD-1 a comment that is not there as it was seen":   runChanged,
		"AD-5 a queue that is full":                         runFull,
		"AD-7 a retry replays whatever the route was":       runReplay,
		"AD-7 the same id for something else":               runConflict,
		"AD-7 ids of all three kinds meet":                  runIDs,
		"AD-3 a refused run leaves no trace":                runRefused,
	})
	runRaces(t, func(t *testing.T) *promptWorld { return newPromptWorld(t, newWorld(t, open)) })
}

// runOf asks for a comment to be sent.
func (w *promptWorld) runOf(clientID string, c plan.Comment) prompt.RunRequest {
	return prompt.RunRequest{TaskID: w.taskID, CommentID: strings.ToUpper(c.ID), Version: c.Version, ClientID: clientID, Content: "do this"}
}

func (w *promptWorld) run(t *testing.T, r prompt.RunRequest) prompt.Admitted {
	t.Helper()
	a, err := w.prompts.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// runFails is a run that must fail and leave no trace (AD-3).
func (w *promptWorld) runFails(t *testing.T, r prompt.RunRequest) error {
	t.Helper()
	w.notices.take()
	before := w.state(t)
	a, err := w.prompts.Run(t.Context(), r)
	if err == nil {
		t.Fatalf("admitted %+v", a)
	}
	w.wantState(t, before)
	return err
}

// wantRun fails the test unless a is the run of c, to the session and by the transport.
func (w *promptWorld) wantRun(t *testing.T, a prompt.Admitted, c plan.Comment, sessionID string, kind prompt.Kind) {
	t.Helper()
	d := a.Delivery
	if d.SessionID != sessionID || d.Kind != kind || !d.PlanMode || d.Content != prompt.Render([]plan.Comment{c}, "do this") ||
		!cmp.Equal(d.PlanCommentRefs, []plan.Ref{c.Ref()}) || (a.Message != nil) != (kind == prompt.KindDirect) ||
		a.RequestedSessionID != sessionID {
		t.Errorf("ran as %+v, message %+v", d, a.Message)
	}
	key := "client_message_id"
	if kind == prompt.KindQueued {
		key = "client_queue_id"
	}
	want := json.RawMessage(`{"` + key + `":"` + *d.ClientID + `","plan_comment_refs":[{"id":"` + c.ID + `","version":1}]}`)
	if !cmp.Equal(d.Metadata, want, jsonEqual) {
		t.Errorf("metadata is %s, want %s", d.Metadata, want)
	}
	for _, left := range w.snapshot(t).Comments {
		if left.ID == c.ID {
			t.Error("the comment is still pending")
		}
	}
}

func runDirect(t *testing.T, w *promptWorld) {
	kept, c := w.comment(t), w.comment(t)
	a := w.run(t, w.runOf("r1", c))
	w.wantRun(t, a, c, w.sessionID, prompt.KindDirect)
	if len(a.Snapshot.Comments) != 1 || a.Snapshot.Comments[0].ID != kept.ID {
		t.Errorf("snapshot is %+v", a.Snapshot)
	}
	w.wantNotices(t, event.Change{Comments: true, Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true, Messages: true}}})
	if r, err := w.prompts.Receipt(t.Context(), w.taskID, "r1"); err != nil || r.Delivery.ID != a.Delivery.ID {
		t.Errorf("receipt is %+v, %v", r, err)
	}
}

func runQueued(t *testing.T, w *promptWorld) {
	first, second, third := w.comment(t), w.comment(t), w.comment(t)
	w.run(t, w.runOf("r1", first))
	w.wantRun(t, w.run(t, w.runOf("r2", second)), second, w.sessionID, prompt.KindQueued) // one is pending ahead
	w.setState(t, w.sessionID, session.StateRunning)
	w.wantRun(t, w.run(t, w.runOf("r3", third)), third, w.sessionID, prompt.KindQueued)
	if s := w.state(t); len(s.Deliveries) != 3 || s.Sessions[0].LastMessageSeq != 1 {
		t.Errorf("left %+v", s)
	}
}

func runNowhere(t *testing.T, w *promptWorld) {
	c := w.comment(t)
	w.primary(t, nil)
	wantErr(t, w.runFails(t, w.runOf("r1", c)), prompt.ErrNoPrimary)
	w.primary(t, &w.sessionID)
	w.wantRun(t, w.run(t, w.runOf("r1", c)), c, w.sessionID, prompt.KindDirect)
}

// primary makes a session the primary one, or none.
func (w *promptWorld) primary(t *testing.T, sessionID *string) {
	t.Helper()
	if _, err := w.tasks.SetPrimary(t.Context(), w.taskID, sessionID); err != nil {
		t.Fatal(err)
	}
	w.notices.take()
}

func runTerminal(t *testing.T, w *promptWorld) {
	c := w.comment(t)
	w.setState(t, w.sessionID, session.StateFailed)
	unavailable, ok := errors.AsType[*session.UnavailableError](w.runFails(t, w.runOf("r1", c)))
	if !ok || unavailable.Reason != session.ReasonTerminal || unavailable.SessionID != w.sessionID {
		t.Errorf("got %+v", unavailable)
	}
}

// routed is a store where something happens each time a route was read.
type routed struct {
	prompt.Store
	reads int
	then  func(read int)
}

// Route implements prompt.Store.
func (r *routed) Route(ctx context.Context, taskID string) (*prompt.Route, error) {
	found, err := r.Store.Route(ctx, taskID)
	r.reads++
	r.then(r.reads)
	return found, err
}

// whenRouted makes the service lose time between route and admission, in which then
// happens: it is told of the how manieth route.
func (w *promptWorld) whenRouted(t *testing.T, then func(read int)) *routed {
	t.Helper()
	r := &routed{Store: w.store.Prompts(), then: then}
	w.prompts = prompt.NewService(prompt.Config{Store: r, Now: w.clock, Announce: event.NewAnnouncer(w.notices, nil)})
	return r
}

func runMoved(t *testing.T, w *promptWorld) {
	second := w.session(w.taskID, session.KindMain, nil)
	c := w.comment(t)
	r := w.whenRouted(t, func(read int) {
		if read == 1 {
			w.primary(t, &second.ID)
		}
	})
	w.wantRun(t, w.run(t, w.runOf("r1", c)), c, second.ID, prompt.KindDirect)
	if r.reads != 2 {
		t.Errorf("looked for a route %d times", r.reads)
	}
}

func runMovedTwice(t *testing.T, w *promptWorld) {
	second := w.session(w.taskID, session.KindMain, nil)
	c := w.comment(t)
	r := w.whenRouted(t, func(read int) { w.primary(t, map[bool]*string{true: &second.ID, false: &w.sessionID}[read%2 == 1]) })
	_, err := w.prompts.Run(t.Context(), w.runOf("r1", c))
	changed, ok := errors.AsType[*prompt.PrimaryChangedError](err)
	if !ok || *changed.SessionID != w.sessionID || r.reads != 2 {
		t.Errorf("after %d routes: %v", r.reads, err)
	}
	if s := w.state(t); len(s.Deliveries) != 0 || len(s.Comments.Comments) != 1 {
		t.Errorf("left %+v", s)
	}
}

func runTurnedBusy(t *testing.T, w *promptWorld) {
	first, second := w.comment(t), w.comment(t)
	r := w.whenRouted(t, func(read int) {
		if read == 1 {
			w.setState(t, w.sessionID, session.StateRunning)
		}
	})
	w.wantRun(t, w.run(t, w.runOf("r1", first)), first, w.sessionID, prompt.KindQueued)
	if r.reads != 2 {
		t.Errorf("looked for a route %d times", r.reads)
	}
	// One that turned free takes it from its queue.
	r.reads, r.then = 0, func(int) { w.setState(t, w.sessionID, session.StateIdle) }
	w.wantRun(t, w.run(t, w.runOf("r2", second)), second, w.sessionID, prompt.KindQueued)
	if r.reads != 1 {
		t.Errorf("looked for a route %d times", r.reads)
	}
}

func runDeleted(t *testing.T, w *promptWorld) {
	c := w.comment(t)
	w.whenRouted(t, func(read int) {
		if read == 1 {
			if err := w.lifecycle(t).DeleteSession(t.Context(), w.taskID, w.sessionID); err != nil {
				t.Error(err)
			}
		}
	})
	_, err := w.prompts.Run(t.Context(), w.runOf("r1", c))
	wantErr(t, err, prompt.ErrNoPrimary)
}

func runChanged(t *testing.T, w *promptWorld) {
	c, other := w.comment(t), newPromptWorld(t, w.world)
	stale, missing := c, c
	stale.Version = 2
	missing.ID = domain.NewID()
	for name, comment := range map[string]plan.Comment{"stale": stale, "missing": missing, "of another task": other.comment(t)} {
		t.Run(name, func(t *testing.T) { wantChanged(t, w.runFails(t, w.runOf("r1", comment)), w.snapshot(t)) })
	}
	if err := w.plans.Delete(t.Context(), w.taskID); err != nil {
		t.Fatal(err)
	}
	_, err := w.prompts.Run(t.Context(), w.runOf("r1", c))
	wantErr(t, err, plan.ErrCommentsChanged)
	bad := w.runOf("r1", c)
	bad.CommentID = "x"
	_, err = w.prompts.Run(t.Context(), bad)
	wantErr(t, err, plan.ErrCommentNotFound)
}

func runFull(t *testing.T, w *promptWorld) {
	w.prompts = prompt.NewService(prompt.Config{
		Store: w.store.Prompts(), Now: w.clock, Announce: event.NewAnnouncer(w.notices, nil), Capacity: 1,
	})
	w.run(t, w.runOf("r1", w.comment(t)))
	wantErr(t, w.runFails(t, w.runOf("r2", w.comment(t))), prompt.ErrQueueFull)
}

// The route of the retry would be another one each time: the queue, another session,
// none, an archived task.
func runReplay(t *testing.T, w *promptWorld) {
	c := w.comment(t)
	first := w.run(t, w.runOf("r1", c))
	second := w.session(w.taskID, session.KindMain, nil)
	for _, now := range []struct {
		name   string
		change func()
	}{
		{"pending ahead", func() {}},
		{"terminal", func() { w.setState(t, w.sessionID, session.StateFailed) }},
		{"another primary", func() { w.primary(t, &second.ID) }},
		{"no primary", func() { w.primary(t, nil) }},
		{"archived", func() { w.archive(t, true) }},
	} {
		now.change()
		w.notices.take()
		before := w.state(t)
		again := w.run(t, w.runOf("r1", c))
		if !again.Replayed || again.Delivery.ID != first.Delivery.ID || again.Message == nil {
			t.Errorf("%s: answered %+v", now.name, again)
		}
		w.notices.take()
		w.wantState(t, before)
	}
}

func runConflict(t *testing.T, w *promptWorld) {
	c, other := w.comment(t), w.comment(t)
	w.run(t, w.runOf("r1", c))
	for _, diff := range []struct {
		change func(*prompt.RunRequest)
		want   string
	}{
		{func(r *prompt.RunRequest) { r.CommentID = other.ID }, "comment_id"},
		{func(r *prompt.RunRequest) { r.Version = 2 }, "version"},
		{func(r *prompt.RunRequest) { r.Content = "" }, "content"},
	} {
		r := w.runOf("r1", c)
		diff.change(&r)
		conflict, ok := errors.AsType[*prompt.ConflictError](w.runFails(t, r))
		if !ok || !cmp.Equal(conflict.DifferingFields, []string{diff.want}) {
			t.Errorf("%s: %+v", diff.want, conflict)
		}
	}
}

func runIDs(t *testing.T, w *promptWorld) {
	first, second := w.comment(t), w.comment(t)
	w.run(t, w.runOf("r1", first))
	w.notices.take()
	direct := w.request("r1", first)
	direct.Content, direct.PlanMode, direct.RequirePrimary = "do this", true, true
	wantErr(t, w.refused(t, direct), prompt.ErrAdmissionConflict)
	if _, err := w.prompts.AdmitQueued(t.Context(), w.request("q1")); err != nil {
		t.Fatal(err)
	}
	wantErr(t, w.runFails(t, w.runOf("q1", second)), prompt.ErrAdmissionConflict)
}

func runRefused(t *testing.T, w *promptWorld) {
	c := w.comment(t)
	for field, change := range map[string]func(*prompt.RunRequest){
		"/body/client_admission_id": func(r *prompt.RunRequest) { r.ClientID = "" },
		"/body/version":             func(r *prompt.RunRequest) { r.Version = 0 },
		"/body/content":             func(r *prompt.RunRequest) { r.Content = "a\x00" },
	} {
		r := w.runOf("r1", c)
		change(&r)
		invalid, ok := errors.AsType[*domain.ValidationError](w.runFails(t, r))
		if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Field != field {
			t.Errorf("%s: %+v", field, invalid)
		}
	}
	large := w.runOf("r1", c)
	large.Content = strings.Repeat("x", domain.MaxPromptContent)
	wantErr(t, w.runFails(t, large), prompt.ErrTooLarge)
	w.archive(t, true)
	wantErr(t, w.runFails(t, w.runOf("r1", c)), task.ErrArchived)
	w.archive(t, false)
	w.primary(t, nil)
	w.archive(t, true)
	wantErr(t, w.runFails(t, w.runOf("r1", c)), task.ErrArchived)
}
