package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// resolutions is what a store must do when a person settles an unknown outcome.
func resolutions(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"DL-12 delivered acknowledges":                      resolvesDelivered,
		"DL-12 requeue makes a new entry, linked both ways": resolvesRequeue,
		"DL-12 a combination is resolved as a whole":        resolvesCombination,
		"DL-12 only what is unknown is resolved":            resolvesUnknownOnly,
		"DL-12 where nothing is queued again":               requeueRefused,
		"DL-6 nothing is folded into what is queued again":  requeuedIsNoTail,
	})
}

// unknown is a delivery whose outcome nobody can tell, alone in the queue.
func (w *promptWorld) unknown(t *testing.T, r prompt.Request) prompt.Reservation {
	t.Helper()
	w.admitQueued(t, r)
	reserved := w.pass(t)
	w.acknowledge(t, reserved, prompt.OutcomeUnknown)
	w.notices.take()
	return reserved
}

func (w *promptWorld) resolve(t *testing.T, id string, r prompt.Resolution) prompt.Delivery {
	t.Helper()
	d, err := w.prompts.Resolve(t.Context(), w.taskID, id, r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, w.stored(t, id), jsonEqual); diff != "" {
		t.Errorf("delivery (-answered +stored):\n%s", diff)
	}
	return d
}

// resolveRefused is a resolution that must fail and leave no trace.
func (w *promptWorld) resolveRefused(t *testing.T, id string, r prompt.Resolution, want error) {
	t.Helper()
	w.notices.take()
	before := w.state(t)
	d, err := w.prompts.Resolve(t.Context(), w.taskID, id, r)
	if !errors.Is(err, want) {
		t.Errorf("resolved %+v, %v, want %v", d, err, want)
	}
	w.wantState(t, before)
}

// sameAgain repeats a resolution, which must change nothing.
func (w *promptWorld) sameAgain(t *testing.T, id string, r prompt.Resolution) {
	t.Helper()
	w.notices.take()
	before := w.state(t)
	w.resolve(t, id, r)
	w.wantState(t, before)
}

func resolvesDelivered(t *testing.T, w *promptWorld) {
	r := w.unknown(t, w.request("q1"))
	archive := func(on bool) {
		if _, err := w.tasks.Update(t.Context(), w.taskID, task.Patch{Archived: &on}); err != nil {
			t.Fatal(err)
		}
		w.notices.take()
	}
	archive(true)
	d := w.resolve(t, r.Delivery.ID, prompt.ResolutionDelivered)
	if d.State != prompt.StateAcknowledged || *d.Outcome != prompt.OutcomeSucceeded || d.AcknowledgedAt == nil {
		t.Errorf("resolved %+v", d)
	}
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	archive(false)
	w.sameAgain(t, d.ID, prompt.ResolutionDelivered)
	w.resolveRefused(t, d.ID, prompt.ResolutionRequeue, prompt.ErrNotAttempted)
	if late := w.acknowledge(t, r, prompt.OutcomeFailed); *late.Outcome != prompt.OutcomeSucceeded {
		t.Errorf("a late acknowledgement leaves %+v", late)
	}
}

func resolvesRequeue(t *testing.T, w *promptWorld) {
	request := w.request("q1", w.comment(t))
	request.PlanMode, request.Model, request.Metadata = true, new("m"), []byte(`{"a":1}`)
	r := w.unknown(t, request)
	waiting := w.enqueue(t, "q2")
	before := w.queue(t)
	w.notices.take()

	d := w.resolve(t, r.Delivery.ID, prompt.ResolutionRequeue)
	w.wantNotices(t, event.Change{Sessions: []event.SessionChange{{SessionID: w.sessionID, Queue: true}}})
	if d.State != prompt.StateRequeued || d.RequeuedAt == nil || d.RequeuedAs == nil || d.RequeuedFrom != nil {
		t.Fatalf("resolved %+v", d)
	}
	again := w.stored(t, *d.RequeuedAs)
	want := d
	want.ID, want.ClientID, want.State, want.Position = again.ID, nil, prompt.StatePending, waiting.Position+1
	want.MessageID, want.TurnID, want.TokenHash, want.Outcome = nil, nil, nil, nil
	want.RequeuedFrom, want.RequeuedAs = &d.ID, nil
	want.ReservedAt, want.AttemptedAt, want.OutcomeUnknownAt, want.RequeuedAt = nil, nil, nil, nil
	want.PendingAt, want.CreatedAt, want.UpdatedAt = again.CreatedAt, again.CreatedAt, again.CreatedAt
	if diff := cmp.Diff(want, again, jsonEqual); diff != "" {
		t.Errorf("the new entry (-want +got):\n%s", diff)
	}
	w.wantEntries(t, waiting.ID, again.ID)
	if after := w.queue(t); after.Revision != before.Revision+1 {
		t.Errorf("revision %d after %d", after.Revision, before.Revision)
	}
	w.sameAgain(t, d.ID, prompt.ResolutionRequeue)
	w.resolveRefused(t, d.ID, prompt.ResolutionDelivered, prompt.ErrNotAttempted)
	w.acknowledge(t, r, prompt.OutcomeSucceeded) // too late: a person has decided
	if got := w.stored(t, d.ID); got.State != prompt.StateRequeued {
		t.Errorf("a late acknowledgement leaves %+v", got)
	}
	w.settle(t, w.sessionID)
	r = w.pass(t)
	if r.Delivery.ID != again.ID || w.state(t).Sessions[0].LastMessageSeq != 3 {
		t.Errorf("delivered again: %+v", r.Delivery)
	}
}

func resolvesCombination(t *testing.T, w *promptWorld) {
	for _, c := range []struct {
		resolution prompt.Resolution
		want       prompt.State
	}{{prompt.ResolutionDelivered, prompt.StateAcknowledged}, {prompt.ResolutionRequeue, prompt.StateRequeued}} {
		ids := []string{w.enqueue(t, string(c.resolution)+"1").ID, w.enqueue(t, string(c.resolution)+"2").ID}
		r := w.sendAndReserve(t)
		w.resolveRefused(t, ids[0], c.resolution, prompt.ErrNotAttempted)
		w.attempt(t, r)
		w.acknowledge(t, r, prompt.OutcomeUnknown)

		source := w.resolve(t, ids[1], c.resolution)
		whole := w.stored(t, r.Delivery.ID)
		if source.ID != ids[1] || source.State != c.want || whole.State != c.want {
			t.Errorf("%s: %+v of %+v", c.resolution, source, whole)
		}
		w.wantSources(t, whole, ids...)
		w.sameAgain(t, ids[0], c.resolution)
		w.sameAgain(t, whole.ID, c.resolution)
		if c.resolution == prompt.ResolutionRequeue {
			again := w.stored(t, *whole.RequeuedAs)
			if again.Kind != prompt.KindQueued || again.Content != whole.Content || *again.RequeuedFrom != whole.ID || again.CombinedInto != nil {
				t.Errorf("the new entry is %+v", again)
			}
			w.wantEntries(t, again.ID)
		}
	}
}

func resolvesUnknownOnly(t *testing.T, w *promptWorld) {
	id := w.enqueue(t, "q1").ID
	refused := func() {
		t.Helper()
		for _, resolution := range prompt.Resolutions {
			w.resolveRefused(t, id, resolution, prompt.ErrNotAttempted)
		}
	}
	refused()
	r := w.reserve(t)
	refused()
	w.attempt(t, r)
	refused()
	w.acknowledge(t, r, prompt.OutcomeSucceeded)
	refused()
	w.resolveRefused(t, domain.NewID(), prompt.ResolutionDelivered, prompt.ErrDeliveryNotFound)
	_, err := w.prompts.Resolve(t.Context(), w.task().ID, id, prompt.ResolutionDelivered)
	wantErr(t, err, prompt.ErrDeliveryNotFound)
	w.resolveRefused(t, id, "perhaps", domain.ErrValidation)
}

func requeueRefused(t *testing.T, w *promptWorld) {
	id := w.unknown(t, w.request("q1")).Delivery.ID
	w.enqueue(t, "q2")
	w.limited(1).resolveRefused(t, id, prompt.ResolutionRequeue, prompt.ErrQueueFull)
	for _, archived := range []bool{true, false} {
		if _, err := w.tasks.Update(t.Context(), w.taskID, task.Patch{Archived: &archived}); err != nil {
			t.Fatal(err)
		}
		if archived {
			w.resolveRefused(t, id, prompt.ResolutionRequeue, task.ErrArchived)
		}
	}
	w.setState(t, w.sessionID, session.StateCompleted)
	w.resolveRefused(t, id, prompt.ResolutionRequeue, session.ErrUnavailable)
	w.resolve(t, id, prompt.ResolutionDelivered)
}

func requeuedIsNoTail(t *testing.T, w *promptWorld) {
	d := w.resolve(t, w.unknown(t, w.request("q1")).Delivery.ID, prompt.ResolutionRequeue)
	q, err := w.appended(t.Context(), "and this")
	if err != nil || len(q.Entries) != 2 || q.Entries[0].Content != d.Content {
		t.Errorf("queue is %+v, %v", q, err)
	}
}
