package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// Recovery is what a store must do for deliveries that are overdue.
func Recovery(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"DL-3 a reservation whose lease is over is pending again":   recoversLease,
		"DL-3 nothing that is alive is touched":                     recoversNothing,
		"DL-3 nothing that was found is moved unseen":               recoversUnderLock,
		"DL-3 an attempt without acknowledgement is given up":       recoversAttempt,
		"DL-3 a turn that has ended is none to end":                 recoversEndedTurn,
		"DL-3 every overdue delivery in one pass":                   recoversAll,
		"DL-4 a crash before the attempt leads to one more try":     recoversCrash,
		"DL-10 a terminal session and an archived task recover too": recoversTerminal,
		"OP-7 what recovery has left is counted":                    countsNeglected,
		"OP-8 the backlog":                                          measures,
	})
}

func recoversLease(t *testing.T, w *promptWorld) {
	c := w.counted()
	first := w.enqueue(t, "q1")
	w.enqueue(t, "q2")
	r := w.reserve(t)
	w.expire(t, r)
	w.notices.take()
	before := w.state(t)
	w.recover(t)
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	after := w.state(t)
	d := after.Deliveries[0]
	if d.ID != first.ID || d.State != prompt.StatePending || d.Position != first.Position || d.TokenHash != nil || d.LeaseExpiresAt != nil {
		t.Errorf("recovered %+v", d)
	}
	if got, want := after.Sessions[0].QueueRevision, before.Sessions[0].QueueRevision+1; got != want {
		t.Errorf("queue revision is %d, want %d", got, want)
	}
	if diff := cmp.Diff(before.Deliveries[1], after.Deliveries[1], jsonEqual); diff != "" {
		t.Errorf("the other delivery changed:\n%s", diff)
	}
	if c.recovered[prompt.RecoveryLeaseExpired] != 1 || len(c.recovered) != 1 || len(c.delivered) != 0 {
		t.Errorf("counted %+v", c)
	}
	w.recover(t)
	w.wantState(t, after)
	if again := w.reserve(t); again.Delivery.ID != first.ID || again.Token == r.Token {
		t.Errorf("reserved %+v", again.Delivery)
	}
	_, err := w.prompts.Attempt(t.Context(), w.taskID, first.ID, r.Token)
	wantErr(t, err, prompt.ErrLeaseLost)
	if c.lost != 1 {
		t.Errorf("%d leases were lost", c.lost)
	}
}

func recoversNothing(t *testing.T, w *promptWorld) {
	c := w.counted()
	w.enqueue(t, "q1")
	w.enqueue(t, "q2")
	w.attemptedLongAgo(t, w.pass(t), domain.DefaultAcknowledgeTimeout-time.Minute)
	w.setState(t, w.sessionID, session.StateIdle)
	w.reserve(t)
	other := newPromptWorld(t, w.world)
	other.admit(t, other.request("c1"))
	r := other.pass(t)
	other.acknowledge(t, r, prompt.OutcomeSucceeded)
	w.notices.take()
	before := w.state(t)
	w.recover(t)
	w.wantState(t, before)
	if len(c.recovered) != 0 {
		t.Errorf("counted %+v", c)
	}
}

// rumour is a store that finds overdue what it was told of, as it may have been when
// somebody else was about to change it.
type rumour struct {
	prompt.Store
	found []prompt.Overdue
}

// Overdue implements prompt.Overseer.
func (r rumour) Overdue(_ context.Context, state prompt.State, _ time.Time, _ *domain.Position, _ int) ([]prompt.Overdue, error) {
	var of []prompt.Overdue
	for _, o := range r.found {
		if o.State == state {
			of = append(of, o)
		}
	}
	return of, nil
}

// recoversUnderLock has deliveries that have moved on since they were found.
func recoversUnderLock(t *testing.T, w *promptWorld) {
	of := func(r prompt.Reservation, state prompt.State) prompt.Overdue {
		return prompt.Overdue{TaskID: w.taskID, DeliveryID: r.Delivery.ID, State: state, TokenHash: r.Delivery.TokenHash}
	}
	w.enqueue(t, "q1")
	w.enqueue(t, "q2")
	attempted := w.pass(t)
	w.setState(t, w.sessionID, session.StateIdle)
	alive := w.reserve(t)
	w.sessionID = w.session(w.taskID, session.KindMain, nil).ID
	w.enqueue(t, "q3")
	released := w.reserve(t)
	if _, err := w.prompts.Release(t.Context(), w.taskID, released.Delivery.ID, released.Token, nil); err != nil {
		t.Fatal(err)
	}
	w.sessionID = w.session(w.taskID, session.KindMain, nil).ID
	w.enqueue(t, "q4")
	again := w.reserve(t)
	w.expire(t, again)
	anothers := of(again, prompt.StateReserved)
	anothers.TokenHash = alive.Delivery.TokenHash
	gone := prompt.Overdue{TaskID: w.taskID, DeliveryID: domain.NewID(), State: prompt.StateReserved}
	nowhere := prompt.Overdue{TaskID: domain.NewID(), DeliveryID: alive.Delivery.ID, State: prompt.StateAttempted}
	w.notices.take()
	before := w.state(t)
	w.prompts = w.serving(prompt.Config{
		Store: rumour{w.store.Prompts(), []prompt.Overdue{
			of(alive, prompt.StateReserved), of(attempted, prompt.StateReserved), of(attempted, prompt.StateAttempted),
			of(released, prompt.StateReserved), of(released, prompt.StateAttempted), anothers, gone, nowhere,
		}},
	})
	w.recover(t)
	w.wantState(t, before)
}

func recoversAttempt(t *testing.T, w *promptWorld) {
	c := w.counted()
	w.admit(t, w.request("c1"))
	r := w.pass(t)
	w.attemptedLongAgo(t, r, domain.DefaultAcknowledgeTimeout)
	w.recover(t)
	w.wantNotices(t, event.Change{Task: true, Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	s := w.state(t)
	if d := s.Deliveries[0]; d.State != prompt.StateOutcomeUnknown || d.OutcomeUnknownAt == nil || d.Outcome != nil || d.TokenHash == nil {
		t.Errorf("gave up as %+v", d)
	}
	if s.Turns[0].State != session.TurnFailed || s.Turns[0].EndedAt == nil || s.Sessions[0].State != session.StateWaitingForInput {
		t.Errorf("turn %+v, session %s", s.Turns[0], s.Sessions[0].State)
	}
	if c.recovered[prompt.RecoveryOutcomeUnknown] != 1 || len(c.recovered) != 1 || c.delivered[prompt.OutcomeUnknown] != 1 {
		t.Errorf("counted %+v", c)
	}
	w.recover(t)
	w.wantState(t, s)
	w.nothing(t) // never again (DL-2)
	if d := w.acknowledge(t, r, prompt.OutcomeSucceeded); d.State != prompt.StateAcknowledged {
		t.Errorf("a late acknowledgement left %+v", d)
	}
}

func recoversEndedTurn(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.reserve(t)
	d := w.attempt(t, r)
	if _, err := w.sessions.EndTurn(t.Context(), w.taskID, *d.TurnID, session.TurnCompleted); err != nil {
		t.Fatal(err)
	}
	w.attemptedLongAgo(t, r, 2*domain.DefaultAcknowledgeTimeout)
	w.recover(t)
	s := w.state(t)
	if s.Deliveries[0].State != prompt.StateOutcomeUnknown || s.Turns[0].State != session.TurnCompleted {
		t.Errorf("left %+v", s)
	}
}

// recoversAll has more than one batch, of several tasks.
func recoversAll(t *testing.T, w *promptWorld) {
	const sessions = 105
	other := newPromptWorld(t, w.world)
	c := w.counted()
	for i := range sessions {
		of := []*promptWorld{w, other}[i%2]
		of.sessionID = w.session(of.taskID, session.KindMain, nil).ID
		of.admit(t, of.request(clientID(i)))
		of.expire(t, of.reserve(t))
	}
	w.recover(t)
	if c.recovered[prompt.RecoveryLeaseExpired] != sessions {
		t.Errorf("recovered %v of %d", c.recovered, sessions)
	}
	for _, of := range []*promptWorld{w, other} {
		for _, d := range of.state(t).Deliveries {
			if d.State != prompt.StatePending {
				t.Errorf("left %+v", d)
			}
		}
	}
}

func recoversCrash(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	w.expire(t, w.reserve(t)) // its owner has crashed
	w.recover(t)
	r := w.pass(t)
	s := w.state(t)
	if d := s.Deliveries[0]; d.State != prompt.StateAttempted || s.Sessions[0].LastMessageSeq != 1 {
		t.Errorf("left %+v, session %+v", d, s.Sessions[0])
	}
	w.attemptedLongAgo(t, r, domain.DefaultAcknowledgeTimeout) // the next one too, too late for another try
	w.recover(t)
	w.nothing(t)
	if s := w.state(t); s.Sessions[0].LastMessageSeq != 1 || len(s.Turns) != 1 {
		t.Errorf("session %+v, turns %+v", s.Sessions[0], s.Turns)
	}
}

func recoversTerminal(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	w.expire(t, w.reserve(t))
	w.setState(t, w.sessionID, session.StateFailed)
	w.archive(t, true)
	w.recover(t)
	s := w.state(t)
	if s.Deliveries[0].State != prompt.StatePending || s.Sessions[0].State != session.StateFailed {
		t.Errorf("left %+v, session %s", s.Deliveries[0], s.Sessions[0].State)
	}
}

func measures(t *testing.T, w *promptWorld) {
	c := w.counted()
	measured := func(unfinished int64) {
		t.Helper()
		if err := w.prompts.Measure(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.backlog.Unfinished != unfinished || c.backlog.OldestPending < 0 {
			t.Errorf("backlog is %+v, want %d", c.backlog, unfinished)
		}
	}
	measured(0)
	w.clock = func() time.Time { return time.Now().UTC().Add(-time.Hour).Truncate(time.Microsecond) }
	c = w.counted()
	for i := range 3 {
		w.enqueue(t, clientID(i))
	}
	measured(3)
	if age := c.backlog.OldestPending; age < time.Hour {
		t.Errorf("the oldest waits for %s", age)
	}
	r := w.reserve(t)
	measured(3)
	w.attempt(t, r)
	measured(2)
}
