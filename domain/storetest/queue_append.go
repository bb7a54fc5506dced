package storetest

import (
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// queueAppends is what a store must do for texts at the end of a queue.
func queueAppends(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"DL-6 texts become one entry":               appendFolds,
		"DL-6 what an entry takes no text into":     appendAdds,
		"DL-6 a client id always adds":              appendAdmits,
		"DL-6 AD-5 a full queue still takes a fold": appendFull,
		"DL-6 forms": appendForms,
		"AD-7 a replayed append outlives its session": appendOutlives,
	})
}

func appendFolds(t *testing.T, w *promptWorld) {
	q := w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), " first\n") })
	if d := q.Entries[0]; d.Kind != prompt.KindQueued || d.State != prompt.StatePending || d.ClientID != nil || d.Version != 1 || d.Position != 1 {
		t.Errorf("entry is %+v", d)
	}
	first := q.Entries[0]
	q = w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), "second ") })
	if d := q.Entries[0]; len(q.Entries) != 1 || d.ID != first.ID || d.Content != " first\n\n\nsecond " || d.Version != 2 || !d.UpdatedAt.After(first.UpdatedAt) {
		t.Errorf("queue is %+v", q)
	}
	w.attempt(t, w.reserve(t))
	if s := w.state(t); s.Sessions[0].LastMessageSeq != 1 || s.Sessions[0].LastPosition != 1 {
		t.Errorf("session is %+v", s.Sessions[0])
	}
	q = w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), "third") }) // it runs
	if len(q.Entries) != 1 || q.Entries[0].Content != "third" {
		t.Errorf("queue is %+v", q)
	}
}

// Comment-bearing entries are never merged, in either direction, and neither is
// anything that is sent in another way.
func appendAdds(t *testing.T, w *promptWorld) {
	plain := prompt.Delivery{Kind: prompt.KindQueued, State: prompt.StatePending, Content: "x"}
	with := func(change func(d *prompt.Delivery)) func(t *testing.T) {
		return func(t *testing.T) {
			d := plain
			change(&d)
			w.put(t, d)
		}
	}
	for name, tail := range map[string]func(t *testing.T){
		"was admitted":       func(t *testing.T) { w.admitQueued(t, w.request("q1", w.comment(t))) },
		"carries comments":   with(func(d *prompt.Delivery) { d.PlanCommentRefs = []plan.Ref{{ID: domain.NewID(), Version: 1}} }),
		"has a client id":    func(t *testing.T) { w.enqueue(t, "q2") },
		"carries a file":     with(func(d *prompt.Delivery) { d.Attachments = []prompt.Attached{{ID: domain.NewID()}} }),
		"plans":              with(func(d *prompt.Delivery) { d.PlanMode = true }),
		"has a model":        with(func(d *prompt.Delivery) { d.Model = new("m") }),
		"is direct":          with(func(d *prompt.Delivery) { d.Kind = prompt.KindDirect }),
		"is a combination":   with(func(d *prompt.Delivery) { d.Kind = prompt.KindCombined }),
		"is combined":        with(func(d *prompt.Delivery) { d.State = prompt.StateCombined }),
		"is reserved":        with(func(d *prompt.Delivery) { d.State = prompt.StateReserved }),
		"has no room for it": with(func(d *prompt.Delivery) { d.Content = strings.Repeat("x", domain.MaxPromptContent-2) }),
	} {
		t.Run(name, func(t *testing.T) {
			tail(t)
			before := w.queue(t)
			q := w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), "y") })
			if n := len(q.Entries); n != len(before.Entries)+1 || q.Entries[n-1].Content != "y" {
				t.Errorf("queue is %+v", q)
			}
		})
	}
	w.put(t, plain)
	q := w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), "y") })
	if tail := q.Entries[len(q.Entries)-1]; tail.Content != "x\n\ny" {
		t.Errorf("tail is %+v", tail)
	}
}

func appendAdmits(t *testing.T, w *promptWorld) {
	w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), "x") })
	a := prompt.Addition{TaskID: w.taskID, SessionID: w.sessionID, ClientID: new("q1"), Content: "y", Model: new("m"), PlanMode: true}
	q := w.changes(t, func() (prompt.Queue, error) {
		q, replayed, err := w.prompts.Append(t.Context(), a)
		if replayed {
			t.Error("replayed what was never asked")
		}
		return q, err
	})
	if len(q.Entries) != 2 || *q.Entries[1].ClientID != "q1" {
		t.Errorf("queue is %+v", q)
	}
	q = w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), "z") })
	if len(q.Entries) != 3 {
		t.Errorf("queue is %+v", q)
	}
	w.notices.take()
	before := w.state(t)
	if again, replayed, err := w.prompts.Append(t.Context(), a); err != nil || !replayed || len(again.Entries) != 3 {
		t.Errorf("again: %+v, %t, %v", again, replayed, err)
	}
	// It is the same request as a queued prompt.
	r := w.request("q1")
	r.Content, r.Model, r.PlanMode = "y", new("m"), true
	if again := w.admitQueued(t, r); !again.Replayed || again.Delivery.ID != q.Entries[1].ID {
		t.Errorf("admitted %+v", again)
	}
	w.notices.take()
	a.Content = "another"
	w.refuses(t, prompt.ErrAdmissionConflict, func() (prompt.Queue, error) {
		q, _, err := w.prompts.Append(t.Context(), a)
		return q, err
	})
	w.wantState(t, before)
}

func appendFull(t *testing.T, w *promptWorld) {
	w = w.limited(1)
	w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), "x") })
	w.changes(t, func() (prompt.Queue, error) { return w.appended(t.Context(), "y") })
	w.reserve(t)
	w.refuses(t, prompt.ErrQueueFull, func() (prompt.Queue, error) { return w.appended(t.Context(), "z") })
}

func appendForms(t *testing.T, w *promptWorld) {
	for _, a := range []prompt.Addition{
		{Content: " "},
		{Content: "\x00"},
		{Content: "x", Model: new(" ")},
		{Content: "x", ClientID: new("a b")},
		{Content: " ", ClientID: new("q1")},
	} {
		a.TaskID, a.SessionID = w.taskID, w.sessionID
		w.refuses(t, domain.ErrValidation, func() (prompt.Queue, error) {
			q, _, err := w.prompts.Append(t.Context(), a)
			return q, err
		})
	}
	w.refuses(t, prompt.ErrTooLarge, func() (prompt.Queue, error) {
		return w.appended(t.Context(), strings.Repeat("x", domain.MaxPromptContent+1))
	})
	none := *w
	none.sessionID = domain.NewID()
	w.refuses(t, session.ErrNotFound, func() (prompt.Queue, error) { return none.appended(t.Context(), "x") })
}

func appendOutlives(t *testing.T, w *promptWorld) {
	a := prompt.Addition{TaskID: w.taskID, SessionID: w.sessionID, ClientID: new("q1"), Content: "y"}
	if _, _, err := w.prompts.Append(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	w.deleteSession(t)
	q, replayed, err := w.prompts.Append(t.Context(), a)
	if err != nil || !replayed || len(q.Entries) > 0 || q.SessionID != w.sessionID {
		t.Errorf("answered %+v, %t, %v", q, replayed, err)
	}
}
