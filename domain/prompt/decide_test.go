package prompt

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

var (
	noon      = time.Date(2031, 3, 4, 12, 0, 0, 0, time.UTC)
	otherID   = "0192d3a0-0000-7000-8000-0000000000ff"
	commentID = "0192d3a0-0000-7000-8000-0000000000c1"
)

// scene is one that admits [bare], with a comment in version 2.
func scene() Scene {
	ses := session.Session{
		ID: idB, TaskID: idA, State: session.StateIdle, IncarnationID: otherID,
		LastMessageSeq: 7, LastPosition: 3, QueueRevision: 11,
	}
	primary := ses
	return Scene{
		Task:    task.Task{ID: idA, ChangeSeq: 41, PrimarySessionID: &primary.ID},
		Session: &ses,
		Primary: &primary,
		Comments: &plan.Snapshot{TaskID: idA, PlanID: otherID, Revision: 5, Comments: []plan.Comment{
			{TaskID: idA, ID: commentID, PlanID: otherID, Body: "why?", SelectedText: "this", Version: 2, CreatedAt: noon},
		}},
	}
}

// The checks, and which of them speaks first when several would (AD-1, AD-4).
func TestDecideOrder(t *testing.T) {
	stale := []plan.Ref{{ID: commentID, Version: 1}}
	running := session.StateRunning
	archive := func(_ *Request, sc *Scene) { sc.Task.Archived = true }
	forget := func(_ *Request, sc *Scene) { sc.Session = nil }
	demote := func(r *Request, sc *Scene) { r.RequirePrimary, sc.Primary.ID = true, otherID }
	end := func(_ *Request, sc *Scene) { sc.Session.State = session.StateCompleted }
	expect := func(r *Request, _ *Scene) { r.ExpectedState = &running }
	run := func(_ *Request, sc *Scene) { sc.Session.State = session.StateRunning }
	owe := func(_ *Request, sc *Scene) { sc.Unfinished = 1 }
	miss := func(r *Request, _ *Scene) { r.Refs = stale }
	swell := func(r *Request, _ *Scene) {
		r.Content = strings.Repeat("x", domain.MaxPromptContent)
		if r.Refs == nil {
			r.Refs = []plan.Ref{{ID: commentID, Version: 2}}
		}
	}
	attach := func(r *Request, _ *Scene) { r.AttachmentIDs = []string{idA} }

	unavailable := func(reason string, state session.State) error {
		return &session.UnavailableError{SessionID: idB, State: state, Reason: reason}
	}
	idle := session.StateIdle
	type change = func(*Request, *Scene)
	for name, c := range map[string]struct {
		changes []change
		want    error
	}{
		"archived":    {[]change{archive, forget, miss, swell, attach}, task.ErrArchived},
		"no session":  {[]change{forget, miss, swell, attach}, session.ErrNotFound},
		"not primary": {[]change{demote, end, miss, swell, attach}, &PrimaryChangedError{&otherID, &idle}},
		"terminal":    {[]change{end, expect, owe, miss, swell, attach}, unavailable("terminal", session.StateCompleted)},
		"changed":     {[]change{expect, owe, miss, swell, attach}, unavailable("changed", session.StateIdle)},
		"busy":        {[]change{run, owe, miss, swell, attach}, unavailable("busy", session.StateRunning)},
		"owed":        {[]change{owe, miss, swell, attach}, unavailable("pending_deliveries", session.StateIdle)},
		"comments":    {[]change{miss, swell, attach}, &plan.CommentsChangedError{Snapshot: *scene().Comments}},
		"size":        {[]change{swell, attach}, &TooLargeError{domain.MaxPromptContent, domain.MaxPromptContent + int64(len("### Plan Comments\n\n```\nthis\n```\n> why?\n\n---\n\n"))}},
		"attachments": {[]change{attach}, ErrAttachmentNotFound},
		"none":        {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, sc := bare(), scene()
			for _, change := range c.changes {
				change(&r, &sc)
			}
			_, err := decide(r, sc, noon)
			if diff := cmp.Diff(c.want, err); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// AD-4: without a primary session both members are null; without the guard any
// session of the task will do.
func TestDecidePrimaryGuard(t *testing.T) {
	r, sc := bare(), scene()
	r.RequirePrimary, sc.Primary = true, nil
	_, err := decide(r, sc, noon)
	changed, ok := errors.AsType[*PrimaryChangedError](err)
	if !ok || changed.SessionID != nil || changed.State != nil {
		t.Errorf("no primary session: %+v", err)
	}
	r.RequirePrimary = false
	if _, err := decide(r, sc, noon); err != nil {
		t.Errorf("without the guard: %v", err)
	}
}

// AD-1: refs without a plan are refused like every other that is not there.
func TestDecideWithoutPlan(t *testing.T) {
	r, sc := bare(), scene()
	r.Refs, sc.Comments = []plan.Ref{{ID: commentID, Version: 2}}, nil
	_, err := decide(r, sc, noon)
	if !errors.Is(err, plan.ErrCommentsChanged) {
		t.Errorf("got %v", err)
	}
}

// The states of a session and what they mean for a direct prompt.
func TestDecideStates(t *testing.T) {
	want := map[session.State]string{
		session.StateCreated: "", session.StateIdle: "", session.StateWaitingForInput: "",
		session.StateStarting: "busy", session.StateRunning: "busy",
		session.StateCompleted: "terminal", session.StateFailed: "terminal", session.StateCancelled: "terminal",
	}
	for _, state := range session.States {
		r, sc := bare(), scene()
		sc.Session.State = state
		_, err := decide(r, sc, noon)
		got := ""
		if unavailable, ok := errors.AsType[*session.UnavailableError](err); ok {
			got = unavailable.Reason
		} else if err != nil {
			t.Fatal(err)
		}
		if got != want[state] {
			t.Errorf("%s: reason %q, want %q", state, got, want[state])
		}
	}
}

// AD-2, AD-11, DL-11, DL-13: what an accepted prompt writes.
func TestDecideAccepts(t *testing.T) {
	r, sc := bare(), scene()
	r.Refs = []plan.Ref{{ID: commentID, Version: 2}}
	r.Model, r.PlanMode, r.Metadata = new("m"), true, []byte(`{"a":1}`)
	a, err := decide(r, sc, noon)
	if err != nil {
		t.Fatal(err)
	}
	text := "### Plan Comments\n\n```\nthis\n```\n> why?\n\n---\n\ngo on"
	if a.Delivery.Content != text || a.Message.Content != text {
		t.Errorf("texts are %q and %q", a.Delivery.Content, a.Message.Content)
	}
	metadata := `{"a":1,"client_message_id":"c1","plan_comment_refs":[{"id":"` + commentID + `","version":2}]}`
	for _, got := range []json.RawMessage{a.Delivery.Metadata, a.Message.Metadata} {
		if string(got) != metadata {
			t.Errorf("metadata is %s, want %s", got, metadata)
		}
	}
	if d := a.Delivery; d.State != StatePending || d.Position != 4 || d.IncarnationID != otherID ||
		*d.MessageID != a.Message.ID || d.Version != 1 || !d.PlanMode || *d.Model != "m" || d.ID != a.Admission.DeliveryID {
		t.Errorf("delivery is %+v", d)
	}
	if m := a.Message; m.Seq != 8 || m.Role != session.RoleUser || m.SessionID != idB || m.TurnID != nil {
		t.Errorf("message is %+v", m)
	}
	if s := a.Session; s.LastMessageSeq != 8 || s.LastPosition != 4 || s.QueueRevision != 12 || s.QueueSeq != 42 || s.MessagesSeq != 42 || s.State != session.StateIdle {
		t.Errorf("session is %+v", s)
	}
	if diff := cmp.Diff(sc.Comments.Comments, a.Consumed); diff != "" {
		t.Error(diff)
	}
	notice := event.Notice{TaskID: idA, Seq: 42, Change: event.Change{
		Comments: true, Sessions: []event.SessionChange{{SessionID: idB, Queue: true, Messages: true}},
	}}
	if diff := cmp.Diff(notice, a.Notice); diff != "" {
		t.Error(diff)
	}
	if scene().Session.LastPosition != sc.Session.LastPosition {
		t.Error("the scene was changed")
	}
}
