package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Prompts is what every prompt.Store must do.
func Prompts(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"AD-2 exactly the named comments are consumed":       admitConsumes,
		"AD-2 a prompt without comments":                     admitWithoutComments,
		"AD-1 refs that are not there reject it all":         admitRefs,
		"AD-3 a refused id can be used again":                admitAgain,
		"AD-4 the primary guard":                             admitPrimary,
		"AD-7 replay answers the present state":              admitReplay,
		"AD-7 replay outlives everything":                    admitReplayOutlives,
		"AD-7 the same id for something else":                admitConflict,
		"AD-7 ids of tasks do not meet":                      admitTasks,
		"AD-8 receipts":                                      admitReceipt,
		"AD-11 metadata keeps id and refs":                   admitMetadata,
		"DL-13 positions are in order and never given twice": admitPositions,
		"a direct prompt never overtakes":                    admitOvertakes,
		"an archived task admits nothing":                    admitArchived,
		"a session of another task is none":                  admitForeignSession,
		"a prompt too large leaves no trace":                 admitTooLarge,
		"PC-11 text is kept byte for byte":                   admitText,
		"API-7 deliveries page, oldest first":                listDeliveries,
	})
	deliveries(t, open)
	combinations(t, open)
	combinationSteps(t, open)
	sendNowRefusals(t, open)
	resolutions(t, open)
	queues(t, open)
	promptRaces(t, func(t *testing.T) *promptWorld { return newPromptWorld(t, newWorld(t, open)) })
	t.Run("QU-23 as the model says", func(t *testing.T) { promptModel(t, open) })
	t.Run("QU-23 queues as the model says", func(t *testing.T) { queueModel(t, open) })
}

func admitConsumes(t *testing.T, w *promptWorld) {
	first, second, third := w.comment(t), w.comment(t), w.comment(t)
	before := w.snapshot(t)
	a := w.admit(t, w.request("c1", third, first))

	want := plan.Snapshot{TaskID: w.taskID, PlanID: w.planID, Revision: before.Revision + 1, Comments: []plan.Comment{second}}
	if diff := cmp.Diff(&want, a.Snapshot); diff != "" {
		t.Errorf("answered snapshot (-want +got):\n%s", diff)
	}
	w.wantSnapshot(t, want)
	if text := prompt.Render([]plan.Comment{first, third}, "go on"); a.Delivery.Content != text || a.Message.Content != text {
		t.Errorf("prompt is %q and %q, want %q", a.Delivery.Content, a.Message.Content, text)
	}
	w.wantNotices(t, event.Change{Comments: true, Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true, Messages: true}}})

	s := w.state(t)
	ses := s.Sessions[0]
	if ses.LastMessageSeq != 1 || ses.LastPosition != 1 || ses.QueueRevision != 1 || ses.State != session.StateCreated {
		t.Errorf("session is %+v", ses)
	}
	if seq := s.Task.ChangeSeq; s.Task.CommentsSeq != seq || ses.QueueSeq != seq || ses.MessagesSeq != seq || s.Task.TaskSeq == seq {
		t.Errorf("stamps are %+v and %+v", s.Task, ses)
	}
	if diff := cmp.Diff([]prompt.Delivery{a.Delivery}, s.Deliveries, jsonEqual); diff != "" {
		t.Errorf("stored delivery (-answered +stored):\n%s", diff)
	}
}

// jsonEqual compares metadata by what it says: databases write it in their own way.
var jsonEqual = cmp.Comparer(func(a, b json.RawMessage) bool {
	ca, errA := domain.CanonicalJSON(a)
	cb, errB := domain.CanonicalJSON(b)
	return errA == nil && errB == nil && string(ca) == string(cb)
})

func admitWithoutComments(t *testing.T, w *promptWorld) {
	kept := w.comment(t)
	before := w.snapshot(t)
	a := w.admit(t, w.request("c1"))
	if diff := cmp.Diff(&before, a.Snapshot); diff != "" || len(before.Comments) != 1 {
		t.Errorf("snapshot without %s (-want +got):\n%s", kept.ID, diff)
	}
	w.wantSnapshot(t, before)
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true, Messages: true}}})

	other := newPlanWorld(t, w.world)
	ses := w.session(other.taskID, session.KindMain, nil)
	a = w.admit(t, prompt.Request{TaskID: other.taskID, SessionID: ses.ID, ClientID: "c1", Content: "x"})
	if a.Snapshot != nil {
		t.Errorf("snapshot of a task without a plan is %+v", a.Snapshot)
	}
}

func admitRefs(t *testing.T, w *promptWorld) {
	kept, edited, gone := w.comment(t), w.comment(t), w.comment(t)
	w.admit(t, w.request("gone", gone))
	w.acknowledge(t, w.pass(t), prompt.OutcomeFailed)
	other := newPromptWorld(t, w.world)
	foreign := other.comment(t)
	if _, err := w.plans.EditComment(t.Context(), w.edit(w.planID, edited.Ref(), "edited")); err != nil {
		t.Fatal(err)
	}
	stale, newer := edited, edited
	newer.Version = 3
	w.notices.take()
	for name, ref := range map[string]plan.Comment{
		"stale": stale, "newer": newer, "consumed": gone, "of another task": foreign,
		"missing": {ID: domain.NewID(), Version: 1},
	} {
		t.Run(name, func(t *testing.T) {
			err := w.refused(t, w.request("c1", kept, ref))
			wantChanged(t, err, w.snapshot(t))
		})
	}
	none := newPlanWorld(t, w.world)
	ses := w.session(none.taskID, session.KindMain, nil)
	_, err := w.prompts.AdmitPrompt(t.Context(), prompt.Request{
		TaskID: none.taskID, SessionID: ses.ID, ClientID: "c1", Refs: []plan.Ref{kept.Ref()},
	})
	wantErr(t, err, plan.ErrCommentsChanged)
}

// pass reserves and attempts the head.
func (w *promptWorld) pass(t *testing.T) prompt.Reservation {
	t.Helper()
	r := w.reserve(t)
	w.attempt(t, r)
	w.notices.take()
	return r
}

func admitAgain(t *testing.T, w *promptWorld) {
	kept := w.comment(t)
	stale := kept
	stale.Version = 7
	wantErr(t, w.refused(t, w.request("c1", stale)), plan.ErrCommentsChanged)
	_, err := w.prompts.Receipt(t.Context(), w.taskID, "c1")
	wantErr(t, err, prompt.ErrAdmissionNotFound)
	if a := w.admit(t, w.request("c1", kept)); a.Replayed {
		t.Error("a refused request was remembered")
	}
}

func admitPrimary(t *testing.T, w *promptWorld) {
	second := w.session(w.taskID, session.KindMain, nil)
	w.notices.take()
	guarded := w.request("c1")
	guarded.SessionID, guarded.RequirePrimary = second.ID, true
	changed, ok := errors.AsType[*prompt.PrimaryChangedError](w.refused(t, guarded))
	if !ok || *changed.SessionID != w.sessionID || *changed.State != session.StateCreated {
		t.Errorf("got %+v", changed)
	}
	free := guarded
	free.RequirePrimary = false
	if a := w.admit(t, free); a.Delivery.SessionID != second.ID {
		t.Errorf("went to %s", a.Delivery.SessionID)
	}
	if _, err := w.tasks.SetPrimary(t.Context(), w.taskID, nil); err != nil {
		t.Fatal(err)
	}
	w.notices.take()
	guarded.ClientID = "c2"
	changed, ok = errors.AsType[*prompt.PrimaryChangedError](w.refused(t, guarded))
	if !ok || changed.SessionID != nil || changed.State != nil {
		t.Errorf("without a primary session: %+v", changed)
	}
	if _, err := w.tasks.SetPrimary(t.Context(), w.taskID, &w.sessionID); err != nil {
		t.Fatal(err)
	}
	guarded.SessionID = w.sessionID
	w.admit(t, guarded)
}

func admitReplay(t *testing.T, w *promptWorld) {
	r := w.request("c1", w.comment(t))
	first := w.admit(t, r)
	kept := w.comment(t)
	w.acknowledge(t, w.pass(t), prompt.OutcomeSucceeded)
	w.notices.take()

	before := w.state(t)
	again := w.admit(t, r)
	if !again.Replayed || again.Delivery.ID != first.Delivery.ID || again.Delivery.State != prompt.StateAcknowledged {
		t.Errorf("replay answers %+v", again)
	}
	if diff := cmp.Diff(first.Message, again.Message, jsonEqual, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("message (-first +again):\n%s", diff)
	}
	if len(again.Snapshot.Comments) != 1 || again.Snapshot.Comments[0].ID != kept.ID {
		t.Errorf("snapshot is %+v", again.Snapshot)
	}
	// Runners are woken again, with the number of a change that was committed.
	told := w.notices.take()
	if len(told) != 1 || told[0].Seq != before.Task.ChangeSeq || !told[0].Change.Sessions[0].Queue {
		t.Errorf("announced %+v", told)
	}
	w.wantState(t, before)
}

func admitReplayOutlives(t *testing.T, w *promptWorld) {
	r := w.request("c1", w.comment(t))
	r.ExpectedState = new(session.StateCreated)
	first := w.admit(t, r)
	w.attempt(t, w.reserve(t))
	w.setState(t, w.sessionID, session.StateRunning)
	w.archive(t, true)
	if a := w.admit(t, r); !a.Replayed || a.Delivery.ID != first.Delivery.ID {
		t.Errorf("archived: %+v", a)
	}
	r.ExpectedState = nil
	if a := w.admit(t, r); !a.Replayed {
		t.Error("the precondition is no part of the request")
	}
}

func admitConflict(t *testing.T, w *promptWorld) {
	c := w.comment(t)
	w.admit(t, w.request("c1", c))
	w.notices.take()
	other := w.request("c1", c)
	other.Content, other.PlanMode = "something else", true
	conflict, ok := errors.AsType[*prompt.ConflictError](w.refused(t, other))
	if !ok || !cmp.Equal(conflict.DifferingFields, []string{"content", "plan_mode"}) {
		t.Errorf("got %+v", conflict)
	}
}

func admitTasks(t *testing.T, w *promptWorld) {
	other := newPromptWorld(t, w.world)
	w.admit(t, w.request("c1"))
	if a := other.admit(t, other.request("c1")); a.Replayed || a.Delivery.TaskID != other.taskID {
		t.Errorf("another task's id answers %+v", a)
	}
}

func admitReceipt(t *testing.T, w *promptWorld) {
	for _, clientID := range []string{"c1", "c\x00", "c\xff", ""} {
		_, err := w.prompts.Receipt(t.Context(), w.taskID, clientID)
		wantErr(t, err, prompt.ErrAdmissionNotFound)
	}
	c := w.comment(t)
	a := w.admit(t, w.request("c1", c))
	w.pass(t)
	got, err := w.prompts.Receipt(t.Context(), w.taskID, "c1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Delivery.State != prompt.StateAttempted || got.Delivery.ID != a.Delivery.ID ||
		got.Admission.RequestedSessionID != w.sessionID ||
		!cmp.Equal(got.Admission.ConsumedCommentRefs, []plan.Ref{c.Ref()}) {
		t.Errorf("receipt is %+v", got)
	}
	if d, err := w.prompts.Delivery(t.Context(), a.Delivery.ID); err != nil || !cmp.Equal(d, got.Delivery) {
		t.Errorf("delivery is %+v, %v", d, err)
	}
	_, err = w.prompts.Delivery(t.Context(), domain.NewID())
	wantErr(t, err, prompt.ErrDeliveryNotFound)
}

func admitMetadata(t *testing.T, w *promptWorld) {
	c := w.comment(t)
	r := w.request("c1", c)
	r.Metadata = json.RawMessage(`{"b": 1.50, "a": [9007199254740993, "<é>"]}`)
	w.admit(t, r)
	a := w.admit(t, r)
	want := json.RawMessage(`{"a":[9007199254740993,"<é>"],"b":1.5,"client_message_id":"c1","plan_comment_refs":[{"id":"` + c.ID + `","version":1}]}`)
	for _, got := range []json.RawMessage{a.Delivery.Metadata, a.Message.Metadata} {
		if !cmp.Equal(got, want, jsonEqual) {
			t.Errorf("stored metadata is %s, want %s", got, want)
		}
	}
}

func admitPositions(t *testing.T, w *promptWorld) {
	for i := range 3 {
		a := w.admit(t, w.request(clientID(i)))
		if a.Delivery.Position != int64(i+1) || a.Message.Seq != int64(i+1) {
			t.Errorf("delivery %d has position %d and seq %d", i, a.Delivery.Position, a.Message.Seq)
		}
		w.acknowledge(t, w.pass(t), prompt.OutcomeFailed)
	}
}

func admitOvertakes(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	w.notices.take()
	reason := func(id string) string {
		unavailable, ok := errors.AsType[*session.UnavailableError](w.refused(t, w.request(id)))
		if !ok || unavailable.SessionID != w.sessionID {
			t.Fatalf("got %+v", unavailable)
		}
		return unavailable.Reason
	}
	if got := reason("c2"); got != session.ReasonPendingDeliveries {
		t.Errorf("while one is pending: %s", got)
	}
	r := w.reserve(t)
	w.notices.take()
	if got := reason("c2"); got != session.ReasonPendingDeliveries {
		t.Errorf("while one is reserved: %s", got)
	}
	w.attempt(t, r)
	w.notices.take()
	if got := reason("c2"); got != session.ReasonBusy {
		t.Errorf("while the turn runs: %s", got)
	}
}

func admitArchived(t *testing.T, w *promptWorld) {
	w.archive(t, true)
	w.notices.take()
	wantErr(t, w.refused(t, w.request("c1")), task.ErrArchived)
}

func admitForeignSession(t *testing.T, w *promptWorld) {
	other := newPromptWorld(t, w.world)
	r := w.request("c1")
	r.SessionID = other.sessionID
	wantErr(t, w.refused(t, r), session.ErrNotFound)
	r.SessionID = domain.NewID()
	wantErr(t, w.refused(t, r), session.ErrNotFound)
	r.TaskID = domain.NewID()
	wantErr(t, w.refused(t, r), task.ErrNotFound)
}

func admitTooLarge(t *testing.T, w *promptWorld) {
	r := w.request("c1", w.comment(t))
	r.Content = strings.Repeat("x", domain.MaxPromptContent)
	wantErr(t, w.refused(t, r), prompt.ErrTooLarge)
	r.Refs = nil
	w.admit(t, r)
}

func admitText(t *testing.T, w *promptWorld) {
	const text = "\ufeff a\r\nb\rc\u2028 👩‍👩‍👧 مرحبا e\u0301 ?? $1 :x '' \\ \n "
	d := draft()
	d.Body, d.SelectedText = text, "````"+text
	comments := w.create(t, w.planID, d).Comments
	c := comments[len(comments)-1]
	r := w.request("c1", c)
	r.Content, r.Model = text, new(" ?m$1 ")
	w.admit(t, r)
	a := w.admit(t, r)
	want := prompt.Render([]plan.Comment{c}, text)
	if a.Delivery.Content != want || a.Message.Content != want || *a.Delivery.Model != *r.Model {
		t.Errorf("stored %q and %q, want %q", a.Delivery.Content, a.Message.Content, want)
	}
}

func listDeliveries(t *testing.T, w *promptWorld) {
	var want []string
	for i := range 5 {
		want = append(want, w.admit(t, w.request(clientID(i))).Delivery.ID)
		w.acknowledge(t, w.pass(t), prompt.OutcomeFailed)
	}
	list := func(state *prompt.State) []string {
		return listed(t, 2, func(r domain.PageRequest) (domain.Page[prompt.Delivery], error) {
			return w.prompts.Deliveries(t.Context(), w.taskID, state, r)
		}, func(d prompt.Delivery) string { return d.ID })
	}
	if got := list(nil); !cmp.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	if got := list(new(prompt.StateAcknowledged)); !cmp.Equal(got, want) {
		t.Errorf("acknowledged ones are %v", got)
	}
	if got := list(new(prompt.StatePending)); len(got) > 0 {
		t.Errorf("pending ones are %v", got)
	}
}
