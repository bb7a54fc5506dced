package storetest

import (
	"log/slog"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// A direct prompt has its row from the admission on. When the runner rolls the session
// back before it takes the prompt, the agent is still told of it, and the transcript says
// where.
func rolledBackRow(t *testing.T, w *promptWorld) {
	admitted := w.admit(t, w.request("c1")).Message
	if _, err := w.transcript(t).Rollback(t.Context(), w.taskID, w.sessionID, 1); err != nil {
		t.Fatal(err)
	}
	if m := w.prior(t, "c1").Message; m != nil {
		t.Fatalf("rolled back, and still there: %+v", m)
	}
	r := w.reserve(t)
	w.notices.take()
	d := w.attempt(t, r)
	w.wantNotices(t, event.Change{Task: true, Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true, Messages: true}}})
	m := w.prior(t, "c1").Message
	if m == nil || m.ID != *d.MessageID || m.ID == admitted.ID || m.Content != d.Content || m.Seq != 2 || m.TurnID == nil || *m.TurnID != *d.TurnID {
		t.Errorf("message is %+v", m)
	}
}

// A runner may bring any id for a message, also the one that follows from a delivery. The
// prompt crosses the boundary all the same, and both have their rows.
func takenRow(t *testing.T, w *promptWorld) {
	id := domain.DeriveID(w.enqueue(t, "q1").ID, "message")
	theirs := []history.NewMessage{{ID: id, Role: session.RoleUser, Content: "mine"}}
	if _, err := w.transcript(t).Append(t.Context(), w.taskID, w.sessionID, theirs); err != nil {
		t.Fatal(err)
	}
	d := w.attempt(t, w.reserve(t))
	m := w.prior(t, "q1").Message
	if m == nil || m.ID != *d.MessageID || m.ID == id || m.Content != d.Content || m.Seq != 2 {
		t.Errorf("message is %+v", m)
	}
}

// transcript is the operations on what was said.
func (w *promptWorld) transcript(t *testing.T) *history.Service {
	t.Helper()
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	return history.NewService(w.store.History(), w.clock, announce, subagent.DefaultDelegationTools)
}
