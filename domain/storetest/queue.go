package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// queues is what a store must do for the queued transport and the queue.
func queues(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"a queued prompt waits for the boundary":              queuedWaits,
		"active sessions take queued prompts":                 queuedStates,
		"session_incarnation_id":                              queuedIncarnation,
		"AD-1 AD-4 a queued prompt is judged as a direct one": queuedRefused,
		"AD-5 capacity":                                       queuedCapacity,
		"AD-7 replay in every later state":                    queuedReplay,
		"AD-7 one namespace on both transports":               queuedNamespace,
		"AD-7 a change of an entry forgets nothing":           queuedRemembers,
		"the queue lists what is owed, in order":              queueLists,
		"DL-10 what is terminal or archived is seen":          queueStaysVisible,
		"DL-11 auto_run is part of the queue":                 queueAutoRun,
	})
	queueEntries(t, open)
	queueAppends(t, open)
}

func queuedWaits(t *testing.T, w *promptWorld) {
	kept, sent := w.comment(t), w.comment(t)
	r := w.request("q1", sent)
	r.Model, r.PlanMode = new("m"), true
	a := w.admitQueued(t, r)
	w.wantNotices(t, event.Change{Comments: true, Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	d := a.Delivery
	if d.Kind != prompt.KindQueued || d.State != prompt.StatePending || d.MessageID != nil || a.Message != nil || a.Replayed {
		t.Errorf("admitted %+v", a)
	}
	if len(a.Snapshot.Comments) != 1 || a.Snapshot.Comments[0].ID != kept.ID {
		t.Errorf("snapshot is %+v", a.Snapshot)
	}
	s := w.state(t)
	if ses := s.Sessions[0]; ses.LastMessageSeq != 0 || ses.LastPosition != 1 || ses.QueueRevision != 1 ||
		ses.QueueSeq != s.Task.ChangeSeq || ses.MessagesSeq == s.Task.ChangeSeq {
		t.Errorf("session is %+v", ses)
	}
	if diff := cmp.Diff([]prompt.Delivery{d}, w.queue(t).Entries, jsonEqual); diff != "" {
		t.Errorf("queue (-answered +read):\n%s", diff)
	}
	w.attempt(t, w.reserve(t))
	text := prompt.Render([]plan.Comment{sent}, "go on")
	m := w.prior(t, "q1").Message
	if m == nil || m.Content != text || !strings.Contains(string(m.Metadata), "client_queue_id") {
		t.Errorf("message is %+v, want the text %q", m, text)
	}
}

func queuedStates(t *testing.T, w *promptWorld) {
	n := 0
	for _, state := range session.States {
		if state.Terminal() {
			continue
		}
		w.setState(t, w.sessionID, state)
		w.enqueue(t, clientID(n)) // with others ahead, too
		n++
	}
	w.setState(t, w.sessionID, session.StateFailed)
	err := w.refusedQueued(t, w.request("q"))
	if unavailable, ok := errors.AsType[*session.UnavailableError](err); !ok || unavailable.Reason != session.ReasonTerminal {
		t.Errorf("terminal: %v", err)
	}
}

func queuedIncarnation(t *testing.T, w *promptWorld) {
	r := w.request("q1", w.comment(t))
	r.IncarnationID = new(domain.NewID())
	wantErr(t, w.refusedQueued(t, r), session.ErrReplaced)
	r.IncarnationID = new(w.state(t).Sessions[0].IncarnationID)
	first := w.admitQueued(t, r)
	for _, other := range []*string{nil, new(domain.NewID())} {
		r.IncarnationID = other
		if a := w.admitQueued(t, r); !a.Replayed || a.Delivery.ID != first.Delivery.ID {
			t.Errorf("the precondition is no part of the request: %+v", a)
		}
	}
}

func queuedRefused(t *testing.T, w *promptWorld) {
	stale := w.comment(t)
	stale.Version = 7
	wantErr(t, w.refusedQueued(t, w.request("q", stale)), plan.ErrCommentsChanged)
	second := w.session(w.taskID, session.KindMain, nil)
	guarded := w.request("q")
	guarded.SessionID, guarded.RequirePrimary = second.ID, true
	wantErr(t, w.refusedQueued(t, guarded), prompt.ErrPrimaryChanged)
	guarded.SessionID = domain.NewID()
	guarded.RequirePrimary = false
	wantErr(t, w.refusedQueued(t, guarded), session.ErrNotFound)
	blank := w.request("q")
	blank.Content = " \n"
	wantErr(t, w.refusedQueued(t, blank), domain.ErrValidation)
	w.archive(t, true)
	wantErr(t, w.refusedQueued(t, w.request("q")), task.ErrArchived)
}

// Reserved and direct ones count.
func queuedCapacity(t *testing.T, w *promptWorld) {
	w = w.limited(2)
	w.admit(t, w.request("c1"))
	r := w.reserve(t)
	second := w.request("q2", w.comment(t))
	w.admitQueued(t, second)
	third := w.request("q3", w.comment(t))
	err := w.refusedQueued(t, third)
	if full, ok := errors.AsType[*prompt.QueueFullError](err); !ok || *full != (prompt.QueueFullError{Size: 2, Maximum: 2}) {
		t.Errorf("full: %v", err)
	}
	if a := w.admitQueued(t, second); !a.Replayed {
		t.Error("a full queue forgot what it holds")
	}
	w.attempt(t, r)
	w.admitQueued(t, third)
}

func queuedReplay(t *testing.T, w *promptWorld) {
	for i, state := range []prompt.State{
		prompt.StatePending, prompt.StateReserved, prompt.StateAttempted, prompt.StateAcknowledged, prompt.StateOutcomeUnknown,
		prompt.StateCancelled, prompt.StateDiscarded, prompt.StateCombined, prompt.StateRequeued,
	} {
		r := w.request(clientID(i), w.comment(t))
		first := w.admitQueued(t, r)
		w.become(t, first.Delivery.ID, state)
		w.notices.take()
		before := w.state(t)
		again := w.admitQueued(t, r)
		if !again.Replayed || again.Delivery.ID != first.Delivery.ID || again.Delivery.State != state {
			t.Errorf("%s: replay answers %+v", state, again)
		}
		// Runners are woken again, with the number of a change that was committed.
		told := w.notices.take()
		if len(told) != 1 || told[0].Seq != before.Task.ChangeSeq || !told[0].Change.Sessions[0].Queue {
			t.Errorf("%s: announced %+v", state, told)
		}
		w.wantState(t, before)
	}
}

func queuedNamespace(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	conflict, ok := errors.AsType[*prompt.ConflictError](w.refusedQueued(t, w.request("c1")))
	if !ok || !cmp.Equal(conflict.DifferingFields, []string{"transport"}) {
		t.Errorf("got %+v", conflict)
	}
	w.enqueue(t, "q1")
	_, err := w.prompts.AdmitPrompt(t.Context(), w.request("q1"))
	wantErr(t, err, prompt.ErrAdmissionConflict)
}

// AD-7: Removing, editing or cancelling an accepted entry never brings a comment
// back, and its exact replay still answers.
func queuedRemembers(t *testing.T, w *promptWorld) {
	edited, removed := w.request("q1", w.comment(t)), w.request("q2", w.comment(t))
	first, second := w.admitQueued(t, edited), w.admitQueued(t, removed)
	empty := w.snapshot(t)
	if len(empty.Comments) > 0 {
		t.Fatalf("comments are %+v", empty)
	}
	w.changes(t, func() (prompt.Queue, error) { return w.rewrite(t.Context(), first.Delivery, "another text") })
	w.changes(t, func() (prompt.Queue, error) { return w.remove(t.Context(), second.Delivery) })
	w.wantSnapshot(t, empty)
	before := w.state(t)
	for _, c := range []struct {
		request prompt.Request
		id      string
		state   prompt.State
		content string
	}{
		{edited, first.Delivery.ID, prompt.StatePending, "another text"},
		{removed, second.Delivery.ID, prompt.StateCancelled, second.Delivery.Content},
	} {
		a := w.admitQueued(t, c.request)
		if d := a.Delivery; !a.Replayed || d.ID != c.id || d.State != c.state || d.Content != c.content || len(d.PlanCommentRefs) != 1 {
			t.Errorf("replay answers %+v", a)
		}
		receipt, err := w.prompts.Receipt(t.Context(), w.taskID, c.request.ClientID)
		if err != nil || receipt.Delivery.State != c.state || len(receipt.Admission.ConsumedCommentRefs) != 1 {
			t.Errorf("receipt is %+v, %v", receipt, err)
		}
	}
	w.notices.take()
	w.wantState(t, before)
}

func queueLists(t *testing.T, w *promptWorld) {
	if q := w.queue(t); len(q.Entries) > 0 || q.Capacity != domain.DefaultCapacity || !q.AutoRun || q.Revision != 0 || q.SessionID != w.sessionID {
		t.Errorf("empty queue is %+v", q)
	}
	direct := w.admit(t, w.request("c1")).Delivery
	want := []string{direct.ID}
	for i, state := range []prompt.State{prompt.StateCombined, prompt.StateCancelled, prompt.StatePending, prompt.StateAttempted, prompt.StateDiscarded} {
		d := w.enqueue(t, clientID(10+i))
		w.become(t, d.ID, state)
		if state.Unfinished() {
			want = append(want, d.ID)
		}
	}
	w.reserve(t)
	q := w.queue(t)
	if diff := cmp.Diff(want, entryIDs(q)); diff != "" || q.Entries[0].State != prompt.StateReserved {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	other := newPromptWorld(t, w.world)
	for taskID, sessionID := range map[string]string{w.taskID: other.sessionID, other.taskID: domain.NewID()} {
		_, err := w.prompts.Queue(t.Context(), taskID, sessionID)
		wantErr(t, err, session.ErrNotFound)
	}
}

// People tidy up what a terminal session is still owed, but nothing is added to it.
func queueStaysVisible(t *testing.T, w *promptWorld) {
	first, second, third := w.enqueue(t, "q1"), w.enqueue(t, "q2"), w.enqueue(t, "q3")
	w.setState(t, w.sessionID, session.StateCompleted)
	if got := entryIDs(w.queue(t)); len(got) != 3 {
		t.Errorf("terminal: %v", got)
	}
	w.changes(t, func() (prompt.Queue, error) { return w.rewrite(t.Context(), first, "x") })
	w.changes(t, func() (prompt.Queue, error) { return w.reorder(t.Context(), third.ID, first.ID, second.ID) })
	w.changes(t, func() (prompt.Queue, error) { return w.remove(t.Context(), second) })
	w.refuses(t, session.ErrUnavailable, func() (prompt.Queue, error) { return w.appended(t.Context(), "x") })

	w.archive(t, true)
	if got := entryIDs(w.queue(t)); !cmp.Equal(got, []string{third.ID, first.ID}) {
		t.Errorf("archived: %v", got)
	}
	first.Version++
	for _, do := range []func() (prompt.Queue, error){
		func() (prompt.Queue, error) { return w.rewrite(t.Context(), first, "y") },
		func() (prompt.Queue, error) { return w.remove(t.Context(), first) },
		func() (prompt.Queue, error) { return w.reorder(t.Context(), first.ID, third.ID) },
		func() (prompt.Queue, error) { return w.appended(t.Context(), "x") },
	} {
		w.refuses(t, task.ErrArchived, do)
	}
}

func queueAutoRun(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	for _, on := range []bool{false, false, true} {
		before := w.queue(t)
		if _, err := w.sessions.Update(t.Context(), w.taskID, w.sessionID, session.Patch{AutoRun: &on, Title: new("t")}); err != nil {
			t.Fatal(err)
		}
		after, changed := w.queue(t), int64(0)
		if before.AutoRun != on {
			changed = 1
		}
		if after.AutoRun != on || after.Revision != before.Revision+changed || (after.Tag() != before.Tag()) != (changed == 1) {
			t.Errorf("auto_run %t makes %+v of %+v", on, after, before)
		}
	}
}
