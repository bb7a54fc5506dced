package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Hooks is what an admission with a turn-start hook must do on every store.
func Hooks(t *testing.T, open Open) {
	hookCases(t, open, map[string]func(*testing.T, *hookWorld){
		"the steps, in their order":                      hookOrder,
		"the hook is told what would be sent":            hookIsTold,
		"a preflight that fails asks no hook":            hookPreflight,
		"AD-3 a hook that refuses leaves no trace":       hookRefuses,
		"AD-7 a replay asks no hook":                     hookReplay,
		"AD-7 the hook is asked once for two first uses": hookOnce,
		"what changed during the hook counts":            hookChanged,
		"another session gets the prompt":                hookReplaces,
		"a replacement takes the prompt or fails it":     hookReplacementUnfit,
		"AD-4 the primary guard and a replacement":       hookPrimary,
		"AD-9 Run asks the hook, the queue does not":     hookRun,
		"changes of the plan wait for the hook":          hookHoldsPlan,
		"a hook cannot change the plan of its own task":  hookWrites,
		"a caller who leaves while the hook runs":        hookCallerLeaves,
	})
}

var errRefused = errors.New("no budget left")

func hookOrder(t *testing.T, w *hookWorld) {
	w.admit(t, w.request("c1", w.comment(t)))
	w.steps.want(t, "look", "lease", "look", "hook", "transaction", "end of lease")

	w.settle(t, w.sessionID)
	w.prompts = prompt.NewService(prompt.Config{
		Store: notedStore{w.store.Prompts(), w.steps}, Now: w.clock, Announce: event.NewAnnouncer(nil, nil),
	})
	w.admit(t, w.request("c2"))
	w.steps.want(t, "transaction") // without a hook not a statement more
}

func hookIsTold(t *testing.T, w *hookWorld) {
	c := w.comment(t)
	r := w.request("c1", c)
	r.RequirePrimary, r.PlanMode, r.Model, r.Metadata = true, true, new("large"), []byte(`{"b":1,"a":2}`)
	var told prompt.TurnStart
	w.hook = func(_ context.Context, turn prompt.TurnStart) (*string, error) { told = turn; return nil, nil } //nolint:nilnil // it lets pass
	a := w.admit(t, r)
	want := prompt.TurnStart{
		TaskID: w.taskID, SessionID: w.sessionID, ClientID: "c1", Content: a.Delivery.Content, Refs: []plan.Ref{c.Ref()},
		RequirePrimary: true, PlanMode: true, Model: new("large"), AttachmentIDs: []string{}, Metadata: []byte(`{"a":2,"b":1}`),
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func hookPreflight(t *testing.T, w *hookWorld) {
	c, second := w.comment(t), w.session(w.taskID, session.KindMain, nil)
	for name, tc := range map[string]struct {
		change func(r *prompt.Request)
		want   error
	}{
		"task":    {func(r *prompt.Request) { r.TaskID = domain.NewID() }, task.ErrNotFound},
		"session": {func(r *prompt.Request) { r.SessionID = domain.NewID() }, session.ErrNotFound},
		"primary": {func(r *prompt.Request) { r.SessionID, r.RequirePrimary = second.ID, true }, prompt.ErrPrimaryChanged},
		"state":   {func(r *prompt.Request) { r.ExpectedState = new(session.StateIdle) }, session.ErrUnavailable},
		"ref":     {func(r *prompt.Request) { r.Refs = []plan.Ref{{ID: c.ID, Version: 9}} }, plan.ErrCommentsChanged},
	} {
		r := w.request("c1", c)
		tc.change(&r)
		if err := w.refused(t, r); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
		if name == "task" {
			w.steps.want(t, "look")
		} else {
			w.steps.want(t, "look", "lease", "look", "end of lease")
		}
	}
	w.archive(t, true)
	w.notices.take()
	wantErr(t, w.refused(t, w.request("c1", c)), task.ErrArchived)
	w.steps.want(t, "look", "lease", "look", "end of lease")
}

func hookRefuses(t *testing.T, w *hookWorld) {
	r := w.request("c1", w.comment(t))
	for _, refuse := range []hookFunc{
		func(context.Context, prompt.TurnStart) (*string, error) { return nil, errRefused },
		// What a hook fails of is not what the admission fails of.
		func(context.Context, prompt.TurnStart) (*string, error) {
			return nil, &session.UnavailableError{SessionID: "x", Reason: session.ReasonBusy}
		},
	} {
		w.hook = refuse
		err := w.refused(t, r)
		failure, ok := errors.AsType[*domain.Error](err)
		if !ok || failure.Kind != domain.KindUnavailable || failure.Detail != prompt.ErrHook.Detail {
			t.Errorf("error is %v", err)
		}
		if _, leaked := errors.AsType[*session.UnavailableError](err); leaked {
			t.Errorf("the data of %v are those of the hook", err)
		}
		if _, err := w.prompts.Receipt(t.Context(), w.taskID, "c1"); !errors.Is(err, prompt.ErrAdmissionNotFound) {
			t.Errorf("receipt: %v", err)
		}
	}
	w.hook = nil
	if a := w.admit(t, r); a.Replayed {
		t.Error("the id was used")
	}
}

func hookReplay(t *testing.T, w *hookWorld) {
	r := w.request("c1", w.comment(t))
	first := w.admit(t, r)
	w.steps.want(t, "look", "lease", "look", "hook", "transaction", "end of lease")
	w.hook = func(context.Context, prompt.TurnStart) (*string, error) { return nil, errRefused }
	if again := w.admit(t, r); !again.Replayed || again.Delivery.ID != first.Delivery.ID {
		t.Errorf("answered %+v", again)
	}
	r.Content = "something else"
	wantErr(t, w.refused(t, r), prompt.ErrAdmissionConflict)
	w.steps.want(t, "look", "look")
}

// The second of two first uses waits for the lease, and finds what the first did.
func hookOnce(t *testing.T, w *hookWorld) {
	r := w.request("c1", w.comment(t))
	crowd(racers, func(i int) {
		if _, err := w.service(i).AdmitPrompt(t.Context(), r); err != nil {
			t.Error(err)
		}
	})
	asked := 0
	for _, step := range w.steps.taken {
		if step == "hook" {
			asked++
		}
	}
	if s := w.state(t); asked != 1 || len(s.Deliveries) != 1 {
		t.Errorf("asked %d times, left %+v", asked, s.Deliveries)
	}
}

// The transaction judges again: a session that began to run takes no prompt.
func hookChanged(t *testing.T, w *hookWorld) {
	w.hook = func(context.Context, prompt.TurnStart) (*string, error) {
		w.setState(t, w.sessionID, session.StateRunning)
		return nil, nil //nolint:nilnil // it lets pass
	}
	_, err := w.prompts.AdmitPrompt(t.Context(), w.request("c1"))
	wantErr(t, err, session.ErrUnavailable)
	if s := w.state(t); len(s.Deliveries) != 0 {
		t.Errorf("left %+v", s.Deliveries)
	}
}

func replaceBy(id string) hookFunc {
	return func(context.Context, prompt.TurnStart) (*string, error) { return &id, nil }
}

func hookReplaces(t *testing.T, w *hookWorld) {
	second := w.session(w.taskID, session.KindMain, nil)
	w.hook = replaceBy(second.ID)
	r := w.request("c1", w.comment(t))
	r.ExpectedState = new(session.StateCreated) // of the session that the caller knew
	w.setState(t, second.ID, session.StateIdle)
	a := w.admit(t, r)
	if a.Delivery.SessionID != second.ID || a.Message.SessionID != second.ID || a.RequestedSessionID != w.sessionID {
		t.Errorf("answered %+v", a)
	}
	receipt, err := w.prompts.Receipt(t.Context(), w.taskID, "c1")
	if err != nil || receipt.Admission.RequestedSessionID != w.sessionID || receipt.Delivery.SessionID != second.ID {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
	// The request is what the caller sent, not what the hook made of it.
	if again := w.admit(t, r); !again.Replayed || again.Delivery.ID != a.Delivery.ID || again.RequestedSessionID != w.sessionID {
		t.Errorf("replay answered %+v", again)
	}
	r.SessionID = second.ID
	wantErr(t, w.refused(t, r), prompt.ErrAdmissionConflict)
	w.settle(t, second.ID)

	w.hook = replaceBy(w.sessionID) // the one that was named is no replacement
	r = w.request("c2")
	r.RequirePrimary = true
	w.admit(t, r)
}

func hookReplacementUnfit(t *testing.T, w *hookWorld) {
	ended := w.session(w.taskID, session.KindMain, nil)
	w.setState(t, ended.ID, session.StateFailed)
	r := w.request("c1", w.comment(t))
	w.hook = replaceBy(ended.ID)
	err := w.refused(t, r)
	if unfit, ok := errors.AsType[*session.UnavailableError](err); !ok || unfit.SessionID != ended.ID || unfit.Reason != session.ReasonTerminal {
		t.Errorf("error is %v", err)
	}
	foreign := w.session(w.task().ID, session.KindMain, nil)
	w.notices.take()
	for _, id := range []string{foreign.ID, domain.NewID(), "none", ""} {
		w.hook = replaceBy(id)
		wantErr(t, w.refused(t, r), prompt.ErrHook)
	}
}

// AD-4: who asks for the primary session gets it or nothing, even where the hook has
// made its replacement the primary one.
func hookPrimary(t *testing.T, w *hookWorld) {
	second := w.session(w.taskID, session.KindMain, nil)
	w.notices.take()
	r := w.request("c1", w.comment(t))
	r.RequirePrimary = true
	w.hook = replaceBy(second.ID)
	wantPrimary(t, w.refused(t, r), w.sessionID)

	w.hook = func(context.Context, prompt.TurnStart) (*string, error) {
		_, err := w.tasks.SetPrimary(t.Context(), w.taskID, &second.ID)
		return &second.ID, err
	}
	_, err := w.prompts.AdmitPrompt(t.Context(), r)
	wantPrimary(t, err, second.ID)
	if s := w.state(t); len(s.Deliveries) != 0 || len(s.Comments.Comments) != 1 {
		t.Errorf("left %+v", s)
	}
}

// Run is a direct prompt where it goes to the session at once. What waits in a queue
// starts no turn yet.
func hookRun(t *testing.T, w *hookWorld) {
	run := w.runOf("r1", w.comment(t))
	second := w.session(w.taskID, session.KindMain, nil)
	w.hook = replaceBy(second.ID)
	_, err := w.prompts.Run(t.Context(), run)
	wantPrimary(t, err, w.sessionID)
	w.hook, w.steps.taken = nil, nil
	if a, err := w.prompts.Run(t.Context(), run); err != nil || a.Delivery.Kind != prompt.KindDirect {
		t.Errorf("ran %+v, %v", a, err)
	}
	w.steps.want(t, "look", "lease", "look", "hook", "transaction", "end of lease")
	if a, err := w.prompts.Run(t.Context(), run); err != nil || !a.Replayed { // by its queue, by now
		t.Errorf("ran again: %+v, %v", a, err)
	}
	if a, err := w.prompts.Run(t.Context(), w.runOf("r2", w.comment(t))); err != nil || a.Delivery.Kind != prompt.KindQueued {
		t.Errorf("ran %+v, %v", a, err)
	}
	w.steps.want(t, "transaction", "transaction")
}

func wantPrimary(t *testing.T, err error, sessionID string) {
	t.Helper()
	changed, ok := errors.AsType[*prompt.PrimaryChangedError](err)
	if !ok || changed.SessionID == nil || *changed.SessionID != sessionID || changed.State == nil || *changed.State != session.StateCreated {
		t.Errorf("error is %v with %+v, want session %s", err, changed, sessionID)
	}
}

// Between preflight and transaction no comment goes: a deletion waits, and comes too
// late.
func hookHoldsPlan(t *testing.T, w *hookWorld) {
	c := w.comment(t)
	deleted := make(chan error, 1)
	w.hook = func(ctx context.Context, _ prompt.TurnStart) (*string, error) {
		go func() {
			_, err := w.plans.DeleteComment(t.Context(), w.removal(w.planID, c.Ref()))
			deleted <- err
		}()
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := w.plans.Save(short, plan.SaveRequest{TaskID: w.taskID, Content: "x"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a change did not wait: %v", err)
		}
		if got, err := w.plans.Comments(ctx, w.taskID); err != nil || len(got.Comments) != 1 { // reads do not wait
			t.Errorf("comments are %+v, %v", got, err)
		}
		select {
		case err := <-deleted:
			t.Errorf("the deletion did not wait: %v", err)
			deleted <- err
		default:
		}
		return nil, nil //nolint:nilnil // it lets pass
	}
	w.admit(t, w.request("c1", c))
	wantErr(t, <-deleted, plan.ErrCommentsChanged)
}

// It would wait for itself, so it fails at once.
func hookWrites(t *testing.T, w *hookWorld) {
	w.hook = func(ctx context.Context, _ prompt.TurnStart) (*string, error) {
		_, err := w.plans.Save(ctx, plan.SaveRequest{TaskID: w.taskID, Content: "another"})
		return nil, err
	}
	wantErr(t, w.refused(t, w.request("c1", w.comment(t))), prompt.ErrHook)
}

// HookLosesItsLease is what a hook must not survive: kill ends the connection that
// holds its lease. The prompt fails closed, and the next one passes.
func HookLosesItsLease(t *testing.T, open Open, kill func(ctx context.Context)) {
	w := newHookWorld(t, newWorld(t, open))
	r := w.request("c1", w.comment(t))
	w.hook = func(ctx context.Context, _ prompt.TurnStart) (*string, error) { kill(ctx); return nil, nil } //nolint:nilnil // it lets pass
	wantErr(t, w.refused(t, r), domain.ErrUnavailable)
	w.steps.want(t, "look", "lease", "look", "hook", "transaction", "end of lease")
	w.hook = nil
	w.admit(t, r)
}

func hookCallerLeaves(t *testing.T, w *hookWorld) {
	r := w.request("c1", w.comment(t))
	ctx, cancel := context.WithCancel(t.Context())
	w.hook = func(ctx context.Context, _ prompt.TurnStart) (*string, error) { cancel(); return nil, ctx.Err() }
	before := w.state(t)
	if a, err := w.prompts.AdmitPrompt(ctx, r); err == nil {
		t.Errorf("admitted %+v", a)
	}
	w.wantState(t, before)
	w.hook = nil
	w.admit(t, r)
}
