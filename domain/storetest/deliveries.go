package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// deliveries is what a store must do for the steps of a delivery.
func deliveries(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"reserve, attempt, acknowledge":                    deliver,
		"DL-1 a live lease blocks, an expired one is lost": leaseExpires,
		"DL-2 past the boundary there is no way back":      boundary,
		"DL-4 one transcript row, also after another try":  oneTranscriptRow,
		"DL-10 a terminal session hands nothing out":       terminalSession,
		"DL-13 the head first":                             headFirst,
		"release gives the place back":                     releases,
		"who hands nothing out":                            handsNothingOut,
		"acknowledge is idempotent":                        acknowledges,
		"a failure ends the turn, success does not":        outcomesAndTurns,
		"a turn that ended already stays as it is":         endedTurn,
		"another turn keeps the session running":           otherTurn,
		"an archived task reserves and attempts nothing":   archivedSteps,
		"what is not there":                                missingDelivery,
		"forms":                                            deliveryForms,
	})
}

func deliver(t *testing.T, w *promptWorld) {
	a := w.admit(t, w.request("c1"))
	w.notices.take()
	queue := event.SessionChange{SessionID: w.sessionID, Queue: true}

	r := w.reserve(t)
	if d := r.Delivery; d.ID != a.Delivery.ID || d.State != prompt.StateReserved || d.ReservedAt == nil || !d.LeaseExpiresAt.Equal(r.LeaseExpiresAt) {
		t.Errorf("reserved %+v", d)
	}
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{queue}})

	d := w.attempt(t, r)
	if d.State != prompt.StateAttempted || *d.MessageID != a.Message.ID || d.AttemptedAt == nil || d.LeaseExpiresAt != nil {
		t.Errorf("attempted %+v", d)
	}
	w.wantNotices(t, event.Change{Task: true, Sessions: []event.SessionChange{queue}})
	s := w.state(t)
	if len(s.Turns) != 1 || s.Turns[0].ID != *d.TurnID || s.Turns[0].State != session.TurnRunning {
		t.Errorf("turns are %+v", s.Turns)
	}
	if ses := s.Sessions[0]; ses.State != session.StateRunning || ses.QueueRevision != 3 || ses.LastMessageSeq != 1 {
		t.Errorf("session is %+v", ses)
	}

	d = w.acknowledge(t, r, prompt.OutcomeSucceeded)
	if d.State != prompt.StateAcknowledged || *d.Outcome != prompt.OutcomeSucceeded || d.AcknowledgedAt == nil {
		t.Errorf("acknowledged %+v", d)
	}
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{queue}})
	if diff := cmp.Diff([]prompt.Delivery{d}, w.state(t).Deliveries, jsonEqual); diff != "" {
		t.Errorf("stored delivery (-answered +stored):\n%s", diff)
	}
	w.nothing(t)
}

func leaseExpires(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	old := w.reserve(t)
	w.nothing(t)
	w.expire(t, old)

	lost := func(when string) {
		t.Helper()
		before := w.state(t)
		w.notices.take()
		_, err := w.prompts.Attempt(t.Context(), w.taskID, old.Delivery.ID, old.Token)
		wantErr(t, err, prompt.ErrLeaseLost)
		_, err = w.prompts.Release(t.Context(), w.taskID, old.Delivery.ID, old.Token, nil)
		wantErr(t, err, prompt.ErrLeaseLost)
		if t.Failed() {
			t.Fatal(when)
		}
		w.wantState(t, before)
	}
	lost("after expiry")
	next := w.reserve(t)
	if next.Delivery.ID != old.Delivery.ID || next.Token == old.Token {
		t.Errorf("reserved again as %+v", next)
	}
	lost("after the next reserve")
	_, err := w.prompts.Acknowledge(t.Context(), w.taskID, old.Delivery.ID, old.Token, prompt.OutcomeSucceeded, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
	w.attempt(t, next)
	lost("after the other's attempt")
}

func boundary(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.pass(t)
	before := w.state(t)
	_, err := w.prompts.Attempt(t.Context(), w.taskID, r.Delivery.ID, r.Token)
	wantErr(t, err, prompt.ErrAttempted)
	_, err = w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, nil)
	wantErr(t, err, prompt.ErrAttempted)
	w.wantState(t, before)
	for _, outcome := range []prompt.Outcome{prompt.OutcomeUnknown, prompt.OutcomeFailed} {
		w.acknowledge(t, r, outcome)
		w.nothing(t)
	}
	_, err = w.prompts.Attempt(t.Context(), w.taskID, r.Delivery.ID, r.Token)
	wantErr(t, err, prompt.ErrAttempted)
}

func oneTranscriptRow(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	w.expire(t, w.reserve(t))
	r := w.reserve(t)
	w.notices.take()
	d := w.attempt(t, r)
	w.wantNotices(t, event.Change{Task: true, Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true, Messages: true}}})
	s := w.state(t)
	if s.Sessions[0].LastMessageSeq != 1 || s.Sessions[0].MessagesSeq != s.Task.ChangeSeq {
		t.Errorf("session is %+v", s.Sessions[0])
	}
	w.acknowledge(t, r, prompt.OutcomeFailed)
	prior := w.prior(t, "q1")
	if m := prior.Message; m == nil || m.ID != *d.MessageID || m.Content != d.Content || m.Seq != 1 || *m.TurnID != *d.TurnID {
		t.Errorf("message is %+v", m)
	}
}

// enqueue admits a queued prompt and returns its delivery.
func (w *promptWorld) enqueue(t *testing.T, id string) prompt.Delivery {
	t.Helper()
	return w.admitQueued(t, w.request(id)).Delivery
}

// prior is what an admission finds under a client id.
func (w *promptWorld) prior(t *testing.T, id string) prompt.Prior {
	t.Helper()
	var found *prompt.Prior
	q := prompt.SceneQuery{TaskID: w.taskID, SessionID: w.sessionID, ClientID: id}
	err := w.store.Prompts().Admit(t.Context(), q, func(sc prompt.Scene) (*prompt.Acceptance, error) {
		found = sc.Prior
		return nil, nil
	})
	if err != nil || found == nil {
		t.Fatalf("prior admission of %s: %+v, %v", id, found, err)
	}
	return *found
}

func terminalSession(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.reserve(t)
	w.tx(t, func(tx prompt.Tx) error {
		s, err := tx.LockSession(t.Context(), w.taskID, w.sessionID)
		if err != nil {
			return err
		}
		s.State = session.StateFailed
		return tx.SaveSession(t.Context(), s)
	})
	w.notices.take()
	before := w.state(t)
	_, err := w.prompts.Attempt(t.Context(), w.taskID, r.Delivery.ID, r.Token)
	wantErr(t, err, session.ErrUnavailable)
	_, err = w.prompts.Reserve(t.Context(), w.taskID, w.sessionID, nil)
	wantErr(t, err, session.ErrUnavailable)
	w.wantState(t, before)
	if _, err := w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, nil); err != nil {
		t.Errorf("release: %v", err)
	}
}

func headFirst(t *testing.T, w *promptWorld) {
	var want []string
	for i := range 3 {
		want = append(want, w.enqueue(t, clientID(i)).ID)
	}
	var got []string
	for range want {
		r := w.reserve(t)
		w.nothing(t)
		got = append(got, r.Delivery.ID)
		w.attempt(t, r)
		w.nothing(t)
		w.acknowledge(t, r, prompt.OutcomeFailed)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func releases(t *testing.T, w *promptWorld) {
	first := w.enqueue(t, "q1")
	w.enqueue(t, "q2")
	r := w.reserve(t)
	w.notices.take()
	d, err := w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, new("the agent is away"))
	if err != nil || d.State != prompt.StatePending || d.Position != first.Position || d.TokenHash != nil || *d.Detail != "the agent is away" {
		t.Errorf("released %+v, %v", d, err)
	}
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	before := w.state(t)
	_, err = w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
	_, err = w.prompts.Acknowledge(t.Context(), w.taskID, r.Delivery.ID, r.Token, prompt.OutcomeFailed, nil)
	wantErr(t, err, prompt.ErrLeaseLost)
	w.wantState(t, before)
	if again := w.reserve(t); again.Delivery.ID != first.ID {
		t.Errorf("the next is %+v", again.Delivery)
	}
}

func handsNothingOut(t *testing.T, w *promptWorld) {
	w.nothing(t)
	w.enqueue(t, "q1")
	w.setState(t, w.sessionID, session.StateRunning)
	w.nothing(t)
	for _, state := range []session.State{session.StateStarting, session.StateIdle, session.StateWaitingForInput, session.StateCreated} {
		w.setState(t, w.sessionID, state)
		r := w.reserve(t)
		if _, err := w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, nil); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
	for _, on := range []bool{false, true} {
		if _, err := w.sessions.Update(t.Context(), w.taskID, w.sessionID, session.Patch{AutoRun: &on}); err != nil {
			t.Fatal(err)
		}
		if !on {
			w.nothing(t)
		}
	}
	w.reserve(t)
	other := w.session(w.taskID, session.KindMain, nil)
	if r, err := w.prompts.Reserve(t.Context(), w.taskID, other.ID, nil); err != nil || r != nil {
		t.Errorf("another session hands out %+v, %v", r, err)
	}
}

func acknowledges(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.reserve(t)
	_, err := w.prompts.Acknowledge(t.Context(), w.taskID, r.Delivery.ID, r.Token, prompt.OutcomeSucceeded, nil)
	wantErr(t, err, prompt.ErrNotAttempted)
	w.attempt(t, r)
	w.acknowledge(t, r, prompt.OutcomeUnknown)
	first := w.acknowledge(t, r, prompt.OutcomeSucceeded) // late, and certain
	w.notices.take()
	before := w.state(t)
	for _, outcome := range prompt.Outcomes {
		if d := w.acknowledge(t, r, outcome); !cmp.Equal(d, first, jsonEqual) {
			t.Errorf("%s again: %+v", outcome, d)
		}
	}
	w.wantState(t, before)
}

func outcomesAndTurns(t *testing.T, w *promptWorld) {
	for i, outcome := range prompt.Outcomes {
		w.setState(t, w.sessionID, session.StateIdle)
		w.enqueue(t, clientID(i))
		d := w.acknowledge(t, w.pass(t), outcome)
		s := w.state(t)
		want, turnWant := session.StateWaitingForInput, session.TurnFailed
		if outcome == prompt.OutcomeSucceeded {
			want, turnWant = session.StateRunning, session.TurnRunning
		}
		turn := s.Turns[len(s.Turns)-1]
		if s.Sessions[0].State != want || turn.State != turnWant || turn.ID != *d.TurnID || (turn.EndedAt == nil) != (turnWant == session.TurnRunning) {
			t.Errorf("%s: session %s, turn %+v", outcome, s.Sessions[0].State, turn)
		}
		if _, err := w.sessions.EndTurn(t.Context(), w.taskID, *d.TurnID, session.TurnCompleted); err != nil {
			t.Fatal(err)
		}
	}
}

func endedTurn(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.reserve(t)
	d := w.attempt(t, r)
	if _, err := w.sessions.EndTurn(t.Context(), w.taskID, *d.TurnID, session.TurnCompleted); err != nil {
		t.Fatal(err)
	}
	w.acknowledge(t, r, prompt.OutcomeFailed)
	s := w.state(t)
	if s.Turns[0].State != session.TurnCompleted || s.Sessions[0].State != session.StateWaitingForInput {
		t.Errorf("turn %+v, session %s", s.Turns[0], s.Sessions[0].State)
	}
}

func otherTurn(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.pass(t)
	if _, _, err := w.sessions.StartTurn(t.Context(), w.taskID, w.sessionID, ""); err != nil {
		t.Fatal(err)
	}
	w.acknowledge(t, r, prompt.OutcomeFailed)
	if s := w.state(t); s.Sessions[0].State != session.StateRunning {
		t.Errorf("session is %s", s.Sessions[0].State)
	}
}

func archivedSteps(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	w.enqueue(t, "q2")
	r := w.reserve(t)
	w.archive(t, true)
	w.notices.take()
	before := w.state(t)
	_, err := w.prompts.Attempt(t.Context(), w.taskID, r.Delivery.ID, r.Token)
	wantErr(t, err, task.ErrArchived)
	_, err = w.prompts.Reserve(t.Context(), w.taskID, w.sessionID, nil)
	wantErr(t, err, task.ErrArchived)
	w.wantState(t, before)
	w.archive(t, false)
	w.attempt(t, r)
	w.archive(t, true)
	w.acknowledge(t, r, prompt.OutcomeSucceeded)
}

func missingDelivery(t *testing.T, w *promptWorld) {
	a := w.admit(t, w.request("c1"))
	other := newPromptWorld(t, w.world)
	for taskID, id := range map[string]string{w.taskID: domain.NewID(), other.taskID: a.Delivery.ID} {
		_, err := w.prompts.Attempt(t.Context(), taskID, id, "x")
		wantErr(t, err, prompt.ErrDeliveryNotFound)
		_, err = w.prompts.Release(t.Context(), taskID, id, "x", nil)
		wantErr(t, err, prompt.ErrDeliveryNotFound)
		_, err = w.prompts.Acknowledge(t.Context(), taskID, id, "x", prompt.OutcomeFailed, nil)
		wantErr(t, err, prompt.ErrDeliveryNotFound)
	}
	_, err := w.prompts.Reserve(t.Context(), w.taskID, other.sessionID, nil)
	wantErr(t, err, session.ErrNotFound)
}

func deliveryForms(t *testing.T, w *promptWorld) {
	for _, seconds := range []int{0, -1, domain.MaxLeaseSeconds + 1} {
		_, err := w.prompts.Reserve(t.Context(), w.taskID, w.sessionID, &seconds)
		wantErr(t, err, domain.ErrValidation)
	}
	w.admit(t, w.request("c1"))
	r, err := w.prompts.Reserve(t.Context(), w.taskID, w.sessionID, new(domain.MaxLeaseSeconds))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.prompts.Release(t.Context(), w.taskID, r.Delivery.ID, r.Token, new("\x00"))
	wantErr(t, err, domain.ErrValidation)
	_, err = w.prompts.Acknowledge(t.Context(), w.taskID, r.Delivery.ID, r.Token, "perhaps", nil)
	wantErr(t, err, domain.ErrValidation)
}
