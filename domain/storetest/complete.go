package storetest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// Completion is what every history.Store must do when a transcript is told again that
// has grown (HI-30).
func Completion(t *testing.T, open Open) {
	historyCases(t, open, map[string]func(*testing.T, *historyWorld){
		"HI-30 new messages are appended, known ones passed over": completeAppends,
		"HI-30 a message gets the rest at its place":              completeGrows,
		"HI-30 changes of calls that were answered late go last":  completeLateChange,
		"HI-6 further calls bind what waits for them":             completeBinds,
		"HI-9 what is no extension refuses the batch":             completeConflicts,
		"a message that was rolled back stays as it is":           completeDeleted,
		"API-24 owned metadata stays, U+0000 is replaced":         completeCleans,
		"HI-8 further paths lead from the workspace":              completePaths,
	})
}

// complete completes the main session.
func (w *historyWorld) complete(batch ...history.NewMessage) history.Completed {
	w.t.Helper()
	done, err := w.history.Complete(w.t.Context(), w.taskID, w.main.ID, batch)
	if err != nil {
		w.t.Fatalf("complete: %v", err)
	}
	return done
}

func (w *historyWorld) wantCompleted(want history.Completed, batch ...history.NewMessage) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.complete(batch...)); diff != "" {
		w.t.Errorf("completed (-want +got):\n%s", diff)
	}
}

// named is m under an id of its own.
func named(m history.NewMessage) history.NewMessage {
	m.ID = domain.NewID()
	return m
}

// message returns a message of the main session as its history shows it.
func (w *historyWorld) message(id string) history.PageMessage {
	w.t.Helper()
	for _, m := range w.read(w.t, w.main, history.PageQuery{Limit: new(200)}).Messages {
		if m.ID == id {
			return m
		}
	}
	w.t.Fatalf("there is no message %s", id)
	return history.PageMessage{}
}

func completeAppends(t *testing.T, w *historyWorld) {
	first, second := named(user()), named(works("a.go"))
	w.wantCompleted(history.Completed{Messages: 1}, first)
	w.wantCompleted(history.Completed{Messages: 1, FileChanges: 1}, first, second)
	w.notices.take()
	w.wantCompleted(history.Completed{}, first, second)
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("told of %+v", told)
	}
	if got := w.message(second.ID); got.Seq != 2 {
		t.Errorf("seq is %d", got.Seq)
	}
}

func completeGrows(t *testing.T, w *historyWorld) {
	m := named(works("a.go"))
	m.Content, m.Thinking, m.Metadata = "one", nil, json.RawMessage(`{"tokens":1}`)
	last := named(user())
	w.complete(m, last)
	before := w.message(m.ID)
	m.Content, m.Thinking, m.Metadata = "one\n\ntwo", new("hm"), json.RawMessage(`{"tokens":2}`)
	m.ToolCalls = []session.ToolCall{{ID: "c1", Name: "Edit", Arguments: "{}", Summary: new("edits")}}
	m.FileChanges = append(m.FileChanges, works("b.go").FileChanges...)
	w.notices.take()
	w.wantCompleted(history.Completed{Messages: 1, Grown: 1, FileChanges: 2}, m, last, named(works("c.go")))
	want := []event.SessionChange{{SessionID: w.main.ID, Messages: true}}
	if told := w.notices.take(); len(told) != 1 || !cmp.Equal(told[0].Change.Sessions, want) {
		t.Errorf("told of %+v", told)
	}
	got := w.message(m.ID)
	if got.Seq != before.Seq || got.Content != m.Content || *got.Thinking != "hm" || len(got.Calls) != 1 || !got.UpdatedAt.After(before.UpdatedAt) {
		t.Errorf("message is %+v", got)
	}
	if len(got.FileChanges) != 2 || got.FileChanges[0].ID != before.FileChanges[0].ID || got.FileChanges[1].Path != "b.go" || got.FileChanges[1].Ordinal != 1 {
		t.Errorf("changes are %+v", got.FileChanges)
	}
	if text, err := domain.CanonicalJSON(got.Metadata); err != nil || string(text) != `{"tokens":2}` {
		t.Errorf("metadata is %s, %v", text, err)
	}
	w.wantCompleted(history.Completed{}, m, last)
	if r := w.say(t, w.main, m); r.Results[0].Status != history.AppendReplayed { // HI-9
		t.Errorf("an append is %s, want a replay of the grown request", r.Results[0].Status)
	}
}

func completeLateChange(t *testing.T, w *historyWorld) {
	m := named(works("b.go"))
	w.complete(m)
	m.FileChanges = works("a.go", "b.go", "c.go").FileChanges
	w.wantCompleted(history.Completed{Grown: 1, FileChanges: 2}, m)
	w.wantShown(t, w.main, map[int64][]string{1: {"b.go", "a.go", "c.go"}})
}

func completeBinds(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	first, second := named(user()), named(delegates("c1"))
	w.complete(first, second)
	bound, late := w.start(t, w.child(w.main), "c1"), w.start(t, w.child(w.main), "c1")
	if bound.ParentMessageID == nil || late.ParentMessageID != nil {
		t.Fatalf("runs are bound to %v and %v, want the first to the message", bound.ParentMessageID, late.ParentMessageID)
	}
	e := w.start(t, child, "c2")
	w.notices.take()
	calls := named(delegates("c1", "c2", "c3"))
	calls.ID = second.ID
	w.wantCompleted(history.Completed{Grown: 1}, calls)
	if told := w.notices.take(); len(told) != 1 || !told[0].Change.Sessions[0].Executions {
		t.Errorf("told of %+v, want the execution too", told)
	}
	if _, err := w.history.Append(t.Context(), w.taskID, child.ID, []history.NewMessage{works("a.go")}); err != nil {
		t.Fatal(err)
	}
	w.end(t, e)
	w.wantShown(t, w.main, map[int64][]string{2: {"a.go"}})
	if late = w.end(t, late); late.ParentMessageID != nil { // its call was there before
		t.Errorf("a second run of a known call is bound to %s", *late.ParentMessageID)
	}
	other := w.start(t, w.child(w.main), "c3")
	if other.ParentMessageID == nil || *other.ParentMessageID != second.ID || *other.ParentCallOrdinal != 2 {
		t.Errorf("a later run is bound to %v", other.ParentMessageID)
	}
	if _, err := w.runs.End(t.Context(), w.taskID, other.ID, subagent.ExecutionFailed); err != nil {
		t.Fatal(err)
	}
}

func completeConflicts(t *testing.T, w *historyWorld) {
	m := named(works("a.go"))
	m.Content, m.Thinking = "one", new("hm")
	m.ToolCalls = []session.ToolCall{{ID: "c1", Name: "Edit", Arguments: "{}"}}
	w.complete(m)
	before := w.message(m.ID)
	for name, change := range map[string]func(m *history.NewMessage){
		"another text":    func(m *history.NewMessage) { m.Content = "two" },
		"less text":       func(m *history.NewMessage) { m.Content = "on" },
		"another thought": func(m *history.NewMessage) { m.Thinking = nil },
		"another role":    func(m *history.NewMessage) { m.Role = session.RoleTool },
		"an answer":       func(m *history.NewMessage) { m.ToolCallID = new("c1") },
		"another call": func(m *history.NewMessage) {
			m.ToolCalls = []session.ToolCall{{ID: "c2", Name: "Edit", Arguments: "{}"}}
		},
		"another argument": func(m *history.NewMessage) {
			m.ToolCalls = []session.ToolCall{{ID: "c1", Name: "Edit", Arguments: "[]"}}
		},
		"fewer calls":       func(m *history.NewMessage) { m.ToolCalls = nil },
		"fewer changes":     func(m *history.NewMessage) { m.FileChanges = nil },
		"another change":    func(m *history.NewMessage) { m.FileChanges = works("b.go", "c.go").FileChanges },
		"another new text":  func(m *history.NewMessage) { m.FileChanges[0].AfterContent = new("b\n") },
		"a text from a NUL": func(m *history.NewMessage) { m.Content = "\x00one" },
	} {
		other := m
		other.FileChanges = works("a.go").FileChanges
		change(&other)
		_, err := w.history.Complete(t.Context(), w.taskID, w.main.ID, []history.NewMessage{named(user()), other})
		if t.Log(name); err == nil {
			t.Errorf("%s is taken for an extension", name)
		}
		wantErr(t, err, session.ErrMessageConflict)
	}
	if diff := cmp.Diff(before, w.message(m.ID)); diff != "" {
		t.Errorf("message changed:\n%s", diff)
	}
	elsewhere := w.mainIn("/w")
	_, err := w.history.Complete(t.Context(), w.taskID, elsewhere.ID, []history.NewMessage{m})
	wantErr(t, err, session.ErrMessageConflict)
	if page := w.read(t, w.main, history.PageQuery{}); page.LastSeq != 1 {
		t.Errorf("something of a refused batch was stored: last seq %d", page.LastSeq)
	}
}

func completeDeleted(t *testing.T, w *historyWorld) {
	first, second := named(user()), named(works("a.go"))
	w.complete(first, second)
	if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 2); err != nil {
		t.Fatal(err)
	}
	w.notices.take()
	second.Content += "!"
	w.wantCompleted(history.Completed{}, first, second)
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("told of %+v", told)
	}
}

func completeCleans(t *testing.T, w *historyWorld) {
	m := named(works("a.go"))
	m.Content, m.Owned = "a\x00", map[string]json.RawMessage{domain.ReservedMetadata[0]: json.RawMessage(`"kept"`)}
	w.complete(m)
	m.Content, m.Owned = "a\x00b\x00", nil
	w.wantCompleted(history.Completed{Grown: 1}, m)
	got := w.message(m.ID)
	if want := `{"` + domain.ReservedMetadata[0] + `":"kept"}`; !got.Sanitized || got.Content != "a\uFFFDb\uFFFD" {
		t.Errorf("sanitized %t, content %q", got.Sanitized, got.Content)
	} else if text, err := domain.CanonicalJSON(got.Metadata); err != nil || string(text) != want {
		t.Errorf("metadata is %s, %v, want %s", text, err, want)
	}
}

func completePaths(t *testing.T, w *historyWorld) {
	m := named(works("/w/a.go"))
	w.complete(m)
	m.FileChanges = works("/w/a.go", "/w/b/../c.go").FileChanges
	w.wantCompleted(history.Completed{Grown: 1, FileChanges: 1}, m)
	w.wantShown(t, w.main, map[int64][]string{1: {"a.go", "c.go"}})
}
