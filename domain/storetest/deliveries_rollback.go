package storetest

import (
	"log/slog"
	"testing"

	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/subagent"
)

// A direct prompt has its row from the admission on. When the runner rolls the session
// back before it takes the prompt, the agent is still told of it, and the transcript says
// where.
func rolledBackRow(t *testing.T, w *promptWorld) {
	admitted := w.admit(t, w.request("c1")).Message
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	transcript := history.NewService(w.store.History(), w.clock, announce, subagent.DefaultDelegationTools)
	if _, err := transcript.Rollback(t.Context(), w.taskID, w.sessionID, 1); err != nil {
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
