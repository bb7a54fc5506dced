package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"gatehouse/domain/event"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// promptWorld is a task with a plan and its primary session, and the operations on
// prompts.
type promptWorld struct {
	*planWorld
	prompts   *prompt.Service
	elsewhere *prompt.Service // the same, or one of another process
	far       prompt.Store    // what elsewhere works on
	planID    string
	sessionID string
}

// promptCases runs tests, each on a store of its own.
func promptCases(t *testing.T, open Open, tests map[string]func(*testing.T, *promptWorld)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newPromptWorld(t, newWorld(t, open))) })
	}
}

// newPromptWorld adds a task with a plan and a primary session to w.
func newPromptWorld(t *testing.T, w *world) *promptWorld {
	t.Helper()
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	p := &promptWorld{
		planWorld: newPlanWorld(t, w),
		prompts:   prompt.NewService(prompt.Config{Store: w.store.Prompts(), Now: w.clock, Announce: announce}),
	}
	p.elsewhere, p.far = p.prompts, w.store.Prompts()
	p.planID = p.save(t, "the plan").ID
	p.sessionID = w.session(p.taskID, session.KindMain, nil).ID
	w.notices.take()
	return p
}

// serving is a service on c, which works with what w has where c names nothing.
func (w *promptWorld) serving(c prompt.Config) *prompt.Service {
	if c.Store == nil {
		c.Store = w.store.Prompts()
	}
	if c.Announce == nil {
		c.Announce = event.NewAnnouncer(w.notices, nil)
	}
	c.Now = w.clock
	return prompt.NewService(c)
}

// lifecycle is the operations that cut across, on the store of w.
func (w *promptWorld) lifecycle(t *testing.T) *lifecycle.Service {
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	return lifecycle.NewService(w.store.Lifecycle(), w.sessions, w.clock, announce)
}

// deleteSession deletes the session.
func (w *promptWorld) deleteSession(t *testing.T) {
	t.Helper()
	if err := w.lifecycle(t).DeleteSession(t.Context(), w.taskID, w.sessionID); err != nil {
		t.Fatal(err)
	}
	w.notices.take()
}

// service is one for caller i of a race: callers take turns with where they are.
func (w *promptWorld) service(i int) *prompt.Service {
	if i%2 == 1 {
		return w.elsewhere
	}
	return w.prompts
}

// comment adds a comment to the plan and returns it.
func (w *promptWorld) comment(t *testing.T) plan.Comment {
	t.Helper()
	d := draft()
	for _, c := range w.create(t, w.planID, d).Comments {
		if c.ID == d.ID {
			w.notices.take()
			return c
		}
	}
	t.Fatal("the snapshot lacks the comment it was made for")
	return plan.Comment{}
}

// request is a direct prompt to the session that sends the comments.
func (w *promptWorld) request(clientID string, comments ...plan.Comment) prompt.Request {
	r := prompt.Request{TaskID: w.taskID, SessionID: w.sessionID, ClientID: clientID, Content: "go on"}
	for _, c := range comments {
		r.Refs = append(r.Refs, c.Ref())
	}
	return r
}

// admit admits r and returns the answer.
func (w *promptWorld) admit(t *testing.T, r prompt.Request) prompt.Admitted {
	t.Helper()
	a, err := w.prompts.AdmitPrompt(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// refused is an admission that must fail and leave no trace (AD-3).
func (w *promptWorld) refused(t *testing.T, r prompt.Request) error {
	t.Helper()
	before := w.state(t)
	a, err := w.prompts.AdmitPrompt(t.Context(), r)
	if err == nil {
		t.Fatalf("admitted %+v", a)
	}
	w.wantState(t, before)
	return err
}

// reserve reserves the head of the session.
func (w *promptWorld) reserve(t *testing.T) prompt.Reservation {
	t.Helper()
	r, err := w.prompts.Reserve(t.Context(), w.taskID, w.sessionID, nil)
	if err != nil || r == nil {
		t.Fatalf("reserve: %+v, %v", r, err)
	}
	return *r
}

// nothing fails the test unless there is nothing to reserve.
func (w *promptWorld) nothing(t *testing.T) {
	t.Helper()
	if r, err := w.prompts.Reserve(t.Context(), w.taskID, w.sessionID, nil); err != nil || r != nil {
		t.Errorf("reserve: %+v, %v, want nothing", r, err)
	}
}

func (w *promptWorld) attempt(t *testing.T, r prompt.Reservation) prompt.Delivery {
	t.Helper()
	d, err := w.prompts.Attempt(t.Context(), w.taskID, r.Delivery.ID, r.Token)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (w *promptWorld) acknowledge(t *testing.T, r prompt.Reservation, o prompt.Outcome) prompt.Delivery {
	t.Helper()
	d, err := w.prompts.Acknowledge(t.Context(), w.taskID, r.Delivery.ID, r.Token, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// expire lets the lease of a reservation end, as time would.
func (w *promptWorld) expire(t *testing.T, r prompt.Reservation) {
	t.Helper()
	w.age(t, r, prompt.StateReserved, func(d *prompt.Delivery, now time.Time) { d.LeaseExpiresAt = new(now.Add(-time.Microsecond)) })
}

// age does to a delivery that is stored in state what time would; now is that of the
// database.
func (w *promptWorld) age(t *testing.T, r prompt.Reservation, state prompt.State, change func(d *prompt.Delivery, now time.Time)) {
	t.Helper()
	w.tx(t, func(tx prompt.Tx) error {
		d, err := tx.Delivery(t.Context(), w.taskID, r.Delivery.ID)
		if err != nil {
			return err
		}
		now, err := tx.Now(t.Context())
		if err != nil {
			return err
		}
		change(&d, now)
		return tx.UpdateDelivery(t.Context(), d, state)
	})
}

// tx runs do in a transaction that holds the lock of the task.
func (w *promptWorld) tx(t *testing.T, do func(tx prompt.Tx) error) {
	t.Helper()
	err := w.store.Prompts().InTx(t.Context(), w.taskID, func(ctx context.Context, tx prompt.Tx) error {
		if _, err := tx.LockTask(ctx, w.taskID); err != nil {
			return err
		}
		return do(tx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// setState puts the session in a state.
func (w *promptWorld) setState(t *testing.T, sessionID string, state session.State) {
	t.Helper()
	if _, err := w.sessions.Update(t.Context(), w.taskID, sessionID, session.Patch{State: &state}); err != nil {
		t.Fatal(err)
	}
	w.notices.take()
}

func clientID(i int) string { return fmt.Sprintf("c%d", i) }
