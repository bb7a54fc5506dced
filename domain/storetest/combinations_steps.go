package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// combinationSteps is what a store must do for the steps of a combination: its sources
// take them too.
func combinationSteps(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"DL-8 release restores every source to its place":  releasesCombination,
		"DL-8 an attempt takes every source along":         attemptsCombination,
		"DL-8 an acknowledgement settles every source":     acknowledgesCombination,
		"DL-8 a later acknowledgement settles them again":  acknowledgesCombinationLate,
		"DL-4 a combination is handed out again, as it is": combinationExpires,
		"DL-3 recovery gives a combination up as a whole":  recoversCombination,
		"DL-8 a person's is handed out with auto_run off":  combinationWithoutAutoRun,
	})
}

// wantSources fails the test unless the deliveries are sources of combination and
// share its state, its turn and what became of it.
func (w *promptWorld) wantSources(t *testing.T, combination prompt.Delivery, ids ...string) {
	t.Helper()
	for _, id := range ids {
		d := w.stored(t, id)
		if d.CombinedInto == nil || *d.CombinedInto != combination.ID || d.State != combination.State ||
			!cmp.Equal(d.TurnID, combination.TurnID) || !cmp.Equal(d.Outcome, combination.Outcome) ||
			!cmp.Equal(d.Detail, combination.Detail) || !cmp.Equal(d.RequeuedAs, combination.RequeuedAs) {
			t.Errorf("source is %+v\nof %+v", d, combination)
		}
	}
}

func releasesCombination(t *testing.T, w *promptWorld) {
	made := w.three(t)
	before := w.queue(t)
	r := w.sendAndReserve(t, made[2].ID, made[0].ID)
	w.notices.take()
	d, err := w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, new("later"))
	if err != nil || d.State != prompt.StateDiscarded || d.DiscardedAt == nil || d.TokenHash != nil || *d.Detail != "later" {
		t.Errorf("released %+v, %v", d, err)
	}
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	w.wantEntries(t, made[0].ID, made[1].ID, made[2].ID)
	for i, got := range w.queue(t).Entries {
		want := before.Entries[i]
		want.PendingAt, want.UpdatedAt, want.CombinedAt = got.PendingAt, got.UpdatedAt, got.CombinedAt
		if diff := cmp.Diff(want, got, jsonEqual); diff != "" {
			t.Errorf("entry %d (-before +after):\n%s", i, diff)
		}
	}
	state := w.state(t)
	_, err = w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
	_, err = w.prompts.Attempt(t.Context(), w.taskID, r.Delivery.ID, r.Token)
	wantErr(t, err, prompt.ErrLeaseLost)
	w.wantState(t, state)
	if next := w.reserve(t); next.Delivery.ID != made[0].ID {
		t.Errorf("the next is %+v", next.Delivery)
	}
}

func attemptsCombination(t *testing.T, w *promptWorld) {
	direct := w.admit(t, w.request("direct"))
	queued := w.enqueue(t, "queued")
	r := w.sendAndReserve(t)
	for _, source := range []string{direct.Delivery.ID, queued.ID} {
		_, err := w.prompts.Attempt(t.Context(), w.taskID, source, r.Token)
		wantErr(t, err, prompt.ErrLeaseLost)
	}
	w.notices.take()
	d := w.attempt(t, r)
	w.wantNotices(t, event.Change{Task: true, Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true, Messages: true}}})
	if d.State != prompt.StateAttempted || *d.MessageID != domain.DeriveID(d.ID, "message") {
		t.Errorf("attempted %+v", d)
	}
	w.wantSources(t, d, direct.Delivery.ID, queued.ID)
	if got := w.stored(t, direct.Delivery.ID); *got.MessageID != direct.Message.ID || got.AttemptedAt == nil {
		t.Errorf("the source with a row of its own is %+v", got)
	}
	if got := w.stored(t, queued.ID); *got.MessageID != *d.MessageID || got.AttemptedAt == nil {
		t.Errorf("the source without is %+v", got)
	}
	if s := w.state(t).Sessions[0]; s.LastMessageSeq != 2 || s.State != session.StateRunning {
		t.Errorf("session is %+v", s)
	}
	w.wantEntries(t)
	_, err := w.prompts.Release(t.Context(), w.taskID, d.ID, r.Token, nil)
	wantErr(t, err, prompt.ErrAttempted)
	if m := w.prior(t, "queued").Message; m == nil || m.Content != d.Content {
		t.Errorf("message is %+v", m)
	}
}

func acknowledgesCombination(t *testing.T, w *promptWorld) {
	for i, outcome := range prompt.Outcomes {
		w.setState(t, w.sessionID, session.StateIdle)
		sources := []string{w.enqueue(t, clientID(2*i)).ID, w.enqueue(t, clientID(2*i+1)).ID}
		r := w.sendAndReserve(t)
		turn := w.attempt(t, r).TurnID
		_, err := w.prompts.Acknowledge(t.Context(), w.taskID, sources[0], r.Token, outcome, nil)
		wantErr(t, err, prompt.ErrLeaseLost)
		d, err := w.prompts.Acknowledge(t.Context(), w.taskID, r.Delivery.ID, r.Token, outcome, new("detail"))
		if err != nil {
			t.Fatal(err)
		}
		w.wantSources(t, d, sources...)
		if diff := cmp.Diff(d, w.stored(t, d.ID), jsonEqual); diff != "" || *d.Outcome != outcome || *d.Detail != "detail" {
			t.Errorf("combination (-answered +stored):\n%s", diff)
		}
		if _, err := w.sessions.EndTurn(t.Context(), w.taskID, *turn, session.TurnCompleted); err != nil {
			t.Fatal(err)
		}
	}
}

func acknowledgesCombinationLate(t *testing.T, w *promptWorld) {
	sources := []string{w.enqueue(t, "q1").ID, w.enqueue(t, "q2").ID}
	w.send(t)
	r := w.pass(t)
	w.wantSources(t, w.acknowledge(t, r, prompt.OutcomeUnknown), sources...)
	first := w.acknowledge(t, r, prompt.OutcomeSucceeded)
	w.wantSources(t, first, sources...)
	w.notices.take()
	before := w.state(t)
	w.acknowledge(t, r, prompt.OutcomeUnknown)
	w.wantState(t, before)
}

func combinationExpires(t *testing.T, w *promptWorld) {
	sources := []string{w.enqueue(t, "q1").ID, w.enqueue(t, "q2").ID}
	d := w.send(t)
	old := w.reserve(t)
	if old.Delivery.ID != d.ID || old.Delivery.Position != d.Position {
		t.Fatalf("handed out %+v", old.Delivery)
	}
	w.nothing(t)
	w.expire(t, old)
	again := w.reserve(t)
	if again.Delivery.ID != d.ID || again.Token == old.Token {
		t.Errorf("handed out again %+v", again.Delivery)
	}
	for _, id := range sources {
		if got := w.stored(t, id); got.State != prompt.StateCombined || *got.CombinedInto != d.ID {
			t.Errorf("source is %+v", got)
		}
	}
	_, err := w.prompts.Release(t.Context(), w.taskID, d.ID, old.Token, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
	w.wantSources(t, w.attempt(t, again), sources...)
}

func combinationWithoutAutoRun(t *testing.T, w *promptWorld) {
	made := w.three(t)
	expired := w.reserve(t)
	w.expire(t, expired)
	if _, err := w.sessions.Update(t.Context(), w.taskID, w.sessionID, session.Patch{AutoRun: new(false)}); err != nil {
		t.Fatal(err)
	}
	w.notices.take()
	before := w.state(t)
	w.nothing(t)
	w.wantState(t, before)
	d := w.send(t, made[1].ID)
	r := w.reserve(t)
	if r.Delivery.ID != d.ID {
		t.Fatalf("handed out %+v", r.Delivery)
	}
	w.expire(t, r)
	if r = w.reserve(t); r.Delivery.ID != d.ID {
		t.Fatalf("handed out again %+v", r.Delivery)
	}
	w.attempt(t, r)
	w.acknowledge(t, r, prompt.OutcomeFailed)
	w.nothing(t)
}
