package storetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// combinations is what a store must do to send several deliveries as one.
func combinations(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"DL-8 all that is pending becomes one delivery":         combinesAll,
		"DL-8 what is selected, in order of position":           combinesSome,
		"AD-10 attachments go along, also when queued again":    combinesAttachments,
		"DL-4 an expired reservation is sent like the others":   combinesExpired,
		"DL-8 two combinations, the later one first":            combinesTwice,
		"DL-8 a runner has it reserved at once":                 combinesForRunner,
		"DL-8 interrupt asks the turn to stop":                  interrupts,
		"DL-8 interrupt reserves for a runner although it runs": interruptsForRunner,
	})
}

// three are queued prompts with different texts.
func (w *promptWorld) three(t *testing.T) (made [3]prompt.Delivery) {
	t.Helper()
	for i := range made {
		r := w.request(clientID(i))
		r.Content = "text " + clientID(i)
		made[i] = w.admitQueued(t, r).Delivery
	}
	return made
}

// sendNowOf is a request to send entries of the queue as it is, all without ids.
func (w *promptWorld) sendNowOf(t *testing.T, ids ...string) prompt.SendNow {
	t.Helper()
	return prompt.SendNow{TaskID: w.taskID, SessionID: w.sessionID, EntryIDs: ids, ExpectedRevision: w.queue(t).Revision}
}

// send sends entries now, as a person.
func (w *promptWorld) send(t *testing.T, ids ...string) prompt.Delivery {
	t.Helper()
	d, token, err := w.prompts.SendNow(t.Context(), w.sendNowOf(t, ids...))
	if err != nil || token != "" || d.State != prompt.StatePending {
		t.Fatalf("sent %+v, %q, %v", d, token, err)
	}
	return d
}

// sendAndReserve sends entries now, as a runner.
func (w *promptWorld) sendAndReserve(t *testing.T, ids ...string) prompt.Reservation {
	t.Helper()
	r := w.sendNowOf(t, ids...)
	r.Reserve = true
	d, token, err := w.prompts.SendNow(t.Context(), r)
	if err != nil || token == "" || d.State != prompt.StateReserved {
		t.Fatalf("sent %+v, %q, %v", d, token, err)
	}
	return prompt.Reservation{Delivery: d, Token: token, LeaseExpiresAt: *d.LeaseExpiresAt}
}

// stored is a delivery as it is.
func (w *promptWorld) stored(t *testing.T, id string) prompt.Delivery {
	t.Helper()
	d, err := w.prompts.Delivery(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// wantEntries fails the test unless the queue has these deliveries, in this order.
func (w *promptWorld) wantEntries(t *testing.T, ids ...string) {
	t.Helper()
	if diff := cmp.Diff(ids, entryIDs(w.queue(t)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("entries of the queue (-want +got):\n%s", diff)
	}
}

func combinesAll(t *testing.T, w *promptWorld) {
	direct := w.admit(t, w.request("direct", w.comment(t))).Delivery
	r := w.request("queued", w.comment(t))
	r.PlanMode, r.Model = true, new("other")
	second := w.admitQueued(t, r).Delivery
	third := w.enqueue(t, "third")
	before := w.queue(t)
	w.notices.take()

	d := w.send(t)
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	want := prompt.Delivery{
		ID: d.ID, TaskID: w.taskID, SessionID: w.sessionID, IncarnationID: direct.IncarnationID, Kind: prompt.KindCombined,
		State: prompt.StatePending, Position: direct.Position - 1,
		Content:         strings.Join([]string{direct.Content, second.Content, third.Content}, "\n\n"),
		Attachments:     []prompt.Attached{},
		PlanCommentRefs: append([]plan.Ref{direct.PlanCommentRefs[0]}, second.PlanCommentRefs...),
		Version:         1, PendingAt: d.CreatedAt, CreatedAt: d.CreatedAt, UpdatedAt: d.CreatedAt, Metadata: d.Metadata,
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("combination (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(d, w.stored(t, d.ID), jsonEqual); diff != "" {
		t.Errorf("stored combination (-answered +stored):\n%s", diff)
	}
	if text := string(d.Metadata); strings.Count(text, `"`) < 2 || strings.Contains(text, "client") || !strings.Contains(text, "plan_comment_refs") {
		t.Errorf("metadata is %s", text)
	}
	w.wantEntries(t, d.ID, direct.ID, second.ID, third.ID)
	for _, source := range []prompt.Delivery{direct, second, third} {
		got := w.stored(t, source.ID)
		if got.State != prompt.StateCombined || *got.CombinedInto != d.ID || got.CombinedAt == nil || got.Position != source.Position {
			t.Errorf("source is %+v", got)
		}
	}
	if after := w.queue(t); after.Revision != before.Revision+1 {
		t.Errorf("revision %d after %d", after.Revision, before.Revision)
	}
	if next := w.enqueue(t, "next"); next.Position != third.Position+1 {
		t.Errorf("the next one is %+v", next)
	}
}

func combinesSome(t *testing.T, w *promptWorld) {
	made := w.three(t)
	if _, err := w.reorder(t.Context(), made[2].ID, made[1].ID, made[0].ID); err != nil {
		t.Fatal(err)
	}
	d := w.send(t, strings.ToUpper(made[0].ID), made[2].ID)
	if d.Content != made[2].Content+"\n\n"+made[0].Content {
		t.Errorf("text is %q", d.Content)
	}
	w.wantEntries(t, d.ID, made[2].ID, made[1].ID, made[0].ID)
	if left := w.stored(t, made[1].ID); left.State != prompt.StatePending || left.CombinedInto != nil {
		t.Errorf("who was not selected is %+v", left)
	}
}

func combinesAttachments(t *testing.T, w *promptWorld) {
	a, b, c := w.stage(t, "a"), w.stage(t, "b"), w.stage(t, "c")
	first := w.admitQueued(t, w.with("q1", b, a)).Delivery
	second := w.admitQueued(t, w.with("q2", c)).Delivery
	r := w.sendAndReserve(t)
	want := append(append([]prompt.Attached{}, first.Attachments...), second.Attachments...)
	if diff := cmp.Diff(want, w.stored(t, r.Delivery.ID).Attachments); diff != "" || len(want) != 3 {
		t.Errorf("attachments (-want +got):\n%s", diff)
	}
	w.attempt(t, r)
	w.acknowledge(t, r, prompt.OutcomeUnknown)
	again := w.resolve(t, r.Delivery.ID, prompt.ResolutionRequeue).RequeuedAs
	if diff := cmp.Diff(want, w.stored(t, *again).Attachments); diff != "" {
		t.Errorf("attachments of the new entry (-want +got):\n%s", diff)
	}
}

func combinesExpired(t *testing.T, w *promptWorld) {
	made := w.three(t)
	old := w.reserve(t)
	w.expire(t, old)
	r := w.sendAndReserve(t, made[0].ID, made[1].ID)
	for _, id := range []string{made[0].ID, made[1].ID} {
		if got := w.stored(t, id); got.State != prompt.StateCombined || got.TokenHash != nil || got.LeaseExpiresAt != nil {
			t.Errorf("source is %+v", got)
		}
	}
	_, err := w.prompts.Attempt(t.Context(), w.taskID, made[0].ID, old.Token)
	wantErr(t, err, prompt.ErrLeaseLost)
	w.wantSources(t, w.attempt(t, r), made[0].ID, made[1].ID)
}

func combinesTwice(t *testing.T, w *promptWorld) {
	made := w.three(t)
	first := w.send(t, made[0].ID)
	second := w.send(t) // all that is left
	w.wantEntries(t, second.ID, first.ID, made[0].ID, made[1].ID, made[2].ID)
	if second.Position != first.Position-1 || second.Content != made[1].Content+"\n\n"+made[2].Content {
		t.Errorf("the second is %+v", second)
	}
	for _, want := range []prompt.Delivery{second, first} {
		r := w.pass(t)
		if r.Delivery.ID != want.ID {
			t.Errorf("handed out %+v, want %+v", r.Delivery, want)
		}
		w.acknowledge(t, r, prompt.OutcomeFailed)
	}
	if again := w.enqueue(t, "again"); w.send(t).Position != again.Position-1 {
		t.Error("the place is not the one before the first that is taken")
	}
}

func combinesForRunner(t *testing.T, w *promptWorld) {
	made := w.three(t)
	r := w.sendAndReserve(t, made[1].ID)
	if diff := cmp.Diff(r.Delivery, w.stored(t, r.Delivery.ID), jsonEqual); diff != "" || r.Delivery.ReservedAt == nil {
		t.Errorf("stored combination (-answered +stored):\n%s", diff)
	}
	w.nothing(t)
	w.wantSources(t, w.attempt(t, r), made[1].ID)
}

func interrupts(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	running := w.attempt(t, w.reserve(t))
	w.enqueue(t, "q2")
	w.notices.take()
	r := w.sendNowOf(t)
	r.Interrupt = true
	if _, _, err := w.prompts.SendNow(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	queue := []event.SessionChange{{SessionID: w.sessionID, Queue: true}}
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true, Interrupt: true}}})
	if turn := w.state(t).Turns[0]; turn.ID != *running.TurnID || !turn.InterruptRequested || turn.State != session.TurnRunning {
		t.Errorf("turn is %+v", turn)
	}
	w.nothing(t)
	w.enqueue(t, "q3")
	r = w.sendNowOf(t)
	r.Interrupt = true
	w.notices.take()
	d, _, err := w.prompts.SendNow(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	w.wantNotices(t, event.Change{Sessions: queue}) // the turn was asked before
	if _, err := w.sessions.EndTurn(t.Context(), w.taskID, *running.TurnID, session.TurnCancelled); err != nil {
		t.Fatal(err)
	}
	if next := w.reserve(t); next.Delivery.ID != d.ID {
		t.Errorf("the next is %+v", next.Delivery)
	}
	if turns := w.state(t).Turns; len(turns) != 1 || !turns[0].InterruptRequested {
		t.Errorf("turns are %+v", turns)
	}
}

func interruptsForRunner(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	w.attempt(t, w.reserve(t))
	w.enqueue(t, "q2")
	r := w.sendNowOf(t)
	r.Interrupt, r.Reserve = true, true
	d, token, err := w.prompts.SendNow(t.Context(), r)
	if err != nil || token == "" {
		t.Fatalf("sent %+v, %q, %v", d, token, err)
	}
	if d = w.attempt(t, prompt.Reservation{Delivery: d, Token: token}); d.State != prompt.StateAttempted {
		t.Errorf("attempted %+v", d)
	}
	marked := map[bool]int{}
	for _, turn := range w.state(t).Turns {
		marked[turn.InterruptRequested]++
	}
	if marked[true] != 1 || marked[false] != 1 {
		t.Errorf("marked turns: %v", marked)
	}
}
