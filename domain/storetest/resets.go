package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// resets are the cases of [Lifecycle] in which a session starts over or goes away with
// something owed to it.
var resets = map[string]func(*testing.T, *lifecycleWorld){
	"DL-9 a reset starts the session over":               resetSession,
	"DL-9 a reset gives up what was not attempted":       resetUnfinished,
	"DL-9 a reset loses the outcome of what was":         resetAttempted,
	"DL-9 a reset leaves nothing of a combination":       resetCombination,
	"DL-9 a reset cancels runs and turns":                resetRuns,
	"DL-9 what a reset refuses":                          resetRefused,
	"DL-9 a deleted session gives up combinations":       deleteCombinations,
	"AD-7 a deleted task takes its combinations with it": deleteTaskWithCombination,
}

// reset starts the session of the prompts over.
func (w *lifecycleWorld) reset(t *testing.T) session.Session {
	t.Helper()
	s, err := w.cycle.ResetSession(t.Context(), w.prompts.taskID, w.prompts.sessionID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func resetSession(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	p.admit(t, p.request("c1"))
	p.settle(t, p.sessionID)
	before := sessionOf(p.state(t), p.sessionID)
	w.notices.take()

	got, err := w.cycle.ResetSession(t.Context(), p.taskID, p.sessionID, &before.IncarnationID)
	if err != nil || got.IncarnationID == before.IncarnationID {
		t.Fatalf("reset to %+v, %v", got, err)
	}
	p.wantNotices(t, event.Change{Task: true, Sessions: []event.SessionChange{{SessionID: p.sessionID, Queue: true}}})
	stored := sessionOf(p.state(t), p.sessionID)
	want := before
	want.State, want.IncarnationID, want.QueueRevision = session.StateCreated, got.IncarnationID, before.QueueRevision+1
	want.UpdatedAt, want.QueueSeq = stored.UpdatedAt, stored.QueueSeq
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("session (-want +stored):\n%s", diff)
	}
	if p.prior(t, "c1").Message == nil {
		t.Error("the transcript is gone")
	}
	again := p.admit(t, p.request("c2"))
	if again.Delivery.IncarnationID != got.IncarnationID || again.Message.Seq != 2 {
		t.Errorf("admitted %+v", again)
	}
	p.settle(t, p.sessionID)
}

func resetUnfinished(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	made := p.three(t)
	held := p.reserve(t)
	w.reset(t)
	for _, d := range made {
		if got := p.stored(t, d.ID); got.State != prompt.StateDiscarded || got.DiscardedAt == nil || got.LeaseExpiresAt != nil {
			t.Errorf("delivery is %+v", got)
		}
	}
	p.wantEntries(t)
	p.nothing(t)
	p.wantDead(t, held)
	_, err := p.prompts.Acknowledge(t.Context(), p.taskID, held.Delivery.ID, held.Token, prompt.OutcomeSucceeded, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
}

// wantDead fails the test unless a reservation of a session that was reset is worth
// nothing before the boundary.
func (w *promptWorld) wantDead(t *testing.T, r prompt.Reservation) {
	t.Helper()
	w.notices.take()
	before := w.state(t)
	_, err := w.prompts.Attempt(t.Context(), w.taskID, r.Delivery.ID, r.Token)
	wantErr(t, err, session.ErrReplaced)
	_, err = w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
	w.wantState(t, before)
}

func resetAttempted(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	p.enqueue(t, "q1")
	r := p.pass(t)
	w.reset(t)
	d := p.stored(t, r.Delivery.ID)
	if d.State != prompt.StateOutcomeUnknown || d.OutcomeUnknownAt == nil {
		t.Errorf("delivery is %+v", d)
	}
	if turn := p.state(t).Turns[0]; turn.ID != *d.TurnID || turn.State != session.TurnCancelled || turn.EndedAt == nil {
		t.Errorf("turn is %+v", turn)
	}
	p.resolveRefused(t, d.ID, prompt.ResolutionRequeue, session.ErrReplaced)
	_, err := p.prompts.Release(t.Context(), p.taskID, d.ID, r.Token, nil)
	wantErr(t, err, prompt.ErrAttempted)

	p.setState(t, p.sessionID, session.StateRunning) // the new one, without a turn
	if d = p.acknowledge(t, r, prompt.OutcomeFailed); d.State != prompt.StateAcknowledged {
		t.Errorf("acknowledged %+v", d)
	}
	s := p.state(t)
	if s.Turns[0].State != session.TurnCancelled || sessionOf(s, p.sessionID).State != session.StateRunning {
		t.Errorf("turn %+v of %+v", s.Turns[0], sessionOf(s, p.sessionID))
	}
}

func resetCombination(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	ids := []string{p.enqueue(t, "q1").ID, p.enqueue(t, "q2").ID}
	r := p.sendAndReserve(t)
	w.reset(t)
	d := p.stored(t, r.Delivery.ID)
	if d.State != prompt.StateDiscarded {
		t.Errorf("combination is %+v", d)
	}
	p.wantSources(t, d, ids...)
	p.wantEntries(t)
	p.wantDead(t, r)
}

func resetRuns(t *testing.T, w *lifecycleWorld) {
	child := w.child(w.main)
	turn := w.turn(w.main)
	run := w.start(t, child, "call")
	w.notices.take()
	if _, err := w.cycle.ResetSession(t.Context(), w.taskID, w.main.ID, nil); err != nil {
		t.Fatal(err)
	}
	told := w.notices.take()
	want := event.Change{Task: true, Sessions: []event.SessionChange{{SessionID: w.main.ID, Queue: true, Messages: true, Executions: true}}}
	if len(told) != 1 || !cmp.Equal(told[0].Change, want) {
		t.Errorf("told %+v", told)
	}
	turns, err := w.sessions.Turns(t.Context(), w.main.ID, domain.PageRequest{})
	if err != nil || turns.Items[0].ID != turn.ID || turns.Items[0].State != session.TurnCancelled {
		t.Errorf("turns are %+v, %v", turns.Items, err)
	}
	runs, err := w.runs.List(t.Context(), w.main.ID, domain.PageRequest{})
	if err != nil || runs.Items[0].ID != run.ID || runs.Items[0].Status != subagent.ExecutionCancelled {
		t.Errorf("runs are %+v, %v", runs.Items, err)
	}
}

func resetRefused(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	p.enqueue(t, "q1")
	refused := func(taskID string, expected *string, want error) {
		t.Helper()
		w.notices.take()
		before := p.state(t)
		_, err := w.cycle.ResetSession(t.Context(), taskID, p.sessionID, expected)
		wantErr(t, err, want)
		p.wantState(t, before)
	}
	refused(w.taskID, nil, session.ErrNotFound)
	refused(p.taskID, new(domain.NewID()), session.ErrReplaced)
	for _, archived := range []bool{true, false} {
		if _, err := w.tasks.Update(t.Context(), p.taskID, task.Patch{Archived: &archived}); err != nil {
			t.Fatal(err)
		}
		if archived {
			refused(p.taskID, nil, task.ErrArchived)
		}
	}
	p.setState(t, p.sessionID, session.StateCancelled)
	refused(p.taskID, nil, session.ErrUnavailable)
}

func deleteCombinations(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	tried := []string{p.enqueue(t, "q1").ID, p.enqueue(t, "q2").ID}
	r := p.sendAndReserve(t)
	p.attempt(t, r)
	waiting := []string{p.enqueue(t, "q3").ID, p.enqueue(t, "q4").ID}
	interrupt := p.now(t)
	interrupt.Interrupt = true
	later, _, err := p.prompts.SendNow(t.Context(), interrupt)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cycle.DeleteSession(t.Context(), p.taskID, p.sessionID); err != nil {
		t.Fatal(err)
	}
	for id, c := range map[string]struct {
		want    prompt.State
		sources []string
	}{r.Delivery.ID: {prompt.StateOutcomeUnknown, tried}, later.ID: {prompt.StateDiscarded, waiting}} {
		d := p.stored(t, id)
		if d.State != c.want {
			t.Errorf("combination is %+v, want %s", d, c.want)
		}
		p.wantSources(t, d, c.sources...)
	}
	receipt, err := p.prompts.Receipt(t.Context(), p.taskID, "q3")
	if err != nil || receipt.Delivery.State != prompt.StateDiscarded || *receipt.Delivery.CombinedInto != later.ID {
		t.Errorf("receipt is %+v, %v", receipt, err)
	}
	p.resolveRefused(t, r.Delivery.ID, prompt.ResolutionRequeue, session.ErrReplaced)
	p.wantSources(t, p.acknowledge(t, r, prompt.OutcomeFailed), tried...)
}

func deleteTaskWithCombination(t *testing.T, w *lifecycleWorld) {
	p := w.prompts
	p.enqueue(t, "q1")
	d := p.send(t)
	if err := w.cycle.DeleteTask(t.Context(), p.taskID); err != nil {
		t.Fatal(err)
	}
	_, err := p.prompts.Delivery(t.Context(), d.ID)
	wantErr(t, err, prompt.ErrDeliveryNotFound)
}
