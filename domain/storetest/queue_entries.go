package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// queueEntries is what a store must do for changes of what waits.
func queueEntries(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"DL-5 an edit replaces the whole text":       editReplaces,
		"DL-5 an edit of a version that is no more":  editStale,
		"DL-5 texts that no entry may have":          editForms,
		"DL-5 a removal":                             removes,
		"DL-5 only pending queued entries":           changesOnlyPending,
		"DL-5 entries of another session":            changesForeign,
		"DL-7 entries exchange their places":         reorders,
		"DL-7 anything but a permutation is refused": reorderRefused,
		"DL-7 the order that is there":               reorderSame,
	})
}

func editReplaces(t *testing.T, w *promptWorld) {
	first := w.admitQueued(t, w.request("q1", w.comment(t))).Delivery
	second := w.enqueue(t, "q2")
	q := w.changes(t, func() (prompt.Queue, error) { return w.rewrite(t.Context(), first, " new \n") })
	if diff := cmp.Diff([]string{first.ID, second.ID}, entryIDs(q)); diff != "" {
		t.Error(diff)
	}
	want := first
	want.Content, want.Version, want.UpdatedAt = " new \n", 2, q.Entries[0].UpdatedAt
	if diff := cmp.Diff(want, q.Entries[0], jsonEqual, cmpopts.EquateEmpty()); diff != "" || !want.UpdatedAt.After(first.UpdatedAt) {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	w.attempt(t, w.reserve(t))
	if m := w.prior(t, "q1").Message; m.Content != " new \n" {
		t.Errorf("the agent gets %q", m.Content)
	}
}

func editStale(t *testing.T, w *promptWorld) {
	d := w.enqueue(t, "q1")
	w.changes(t, func() (prompt.Queue, error) { return w.rewrite(t.Context(), d, "x") })
	for _, version := range []int64{1, 3} {
		d.Version = version
		err := w.refusal(t, func() (prompt.Queue, error) { return w.rewrite(t.Context(), d, "y") })
		changed, ok := errors.AsType[*prompt.QueueChangedError](err)
		if !ok {
			t.Fatalf("error is %v", err)
		}
		if diff := cmp.Diff(w.queue(t), changed.Queue, jsonEqual, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("queue (-read +told):\n%s", diff)
		}
	}
}

func editForms(t *testing.T, w *promptWorld) {
	bare := w.admitQueued(t, w.request("q1", w.comment(t))).Delivery
	attached := w.put(t, prompt.Delivery{
		Kind: prompt.KindQueued, State: prompt.StatePending, Content: "look", Attachments: []prompt.Attached{{ID: domain.NewID()}},
	})
	large := strings.Repeat("x", domain.MaxPromptContent)
	for text, want := range map[string]error{
		"a\x00b": domain.ErrValidation, large + "x": prompt.ErrTooLarge, " \n\t": domain.ErrValidation, "": domain.ErrValidation,
	} {
		w.refuses(t, want, func() (prompt.Queue, error) { return w.rewrite(t.Context(), bare, text) })
	}
	w.changes(t, func() (prompt.Queue, error) { return w.rewrite(t.Context(), bare, large) })
	w.changes(t, func() (prompt.Queue, error) { return w.rewrite(t.Context(), attached, "") })
}

func removes(t *testing.T, w *promptWorld) {
	w = w.limited(3)
	first, second, third := w.enqueue(t, "q1"), w.enqueue(t, "q2"), w.enqueue(t, "q3")
	q := w.changes(t, func() (prompt.Queue, error) { return w.remove(t.Context(), second) })
	if diff := cmp.Diff([]string{first.ID, third.ID}, entryIDs(q)); diff != "" {
		t.Error(diff)
	}
	d, err := w.prompts.Delivery(t.Context(), second.ID)
	if err != nil || d.State != prompt.StateCancelled || d.CancelledAt == nil || !d.UpdatedAt.Equal(*d.CancelledAt) || d.Content != second.Content {
		t.Errorf("removed entry is %+v, %v", d, err)
	}
	w.refuses(t, prompt.ErrEntryNotFound, func() (prompt.Queue, error) { return w.remove(t.Context(), second) })
	if last := w.enqueue(t, "q4"); last.Position != 4 {
		t.Errorf("the place of a removed entry was given again: %+v", last)
	}
}

// What is answered for an entry, by its kind and state.
func changesOnlyPending(t *testing.T, w *promptWorld) {
	reserved, uneditable, gone := prompt.ErrEntryReserved, prompt.ErrEntryNotEditable, prompt.ErrEntryNotFound
	for _, c := range []struct {
		kind  prompt.Kind
		state prompt.State
		want  error
	}{
		{prompt.KindQueued, prompt.StateReserved, reserved},
		{prompt.KindQueued, prompt.StateAttempted, reserved},
		{prompt.KindQueued, prompt.StateAcknowledged, reserved},
		{prompt.KindQueued, prompt.StateOutcomeUnknown, reserved},
		{prompt.KindQueued, prompt.StateCombined, uneditable},
		{prompt.KindQueued, prompt.StateCancelled, gone},
		{prompt.KindQueued, prompt.StateDiscarded, gone},
		{prompt.KindQueued, prompt.StateRequeued, gone},
		{prompt.KindDirect, prompt.StatePending, uneditable},
		{prompt.KindDirect, prompt.StateAttempted, reserved},
		{prompt.KindDirect, prompt.StateDiscarded, gone},
		{prompt.KindCombined, prompt.StatePending, uneditable},
		{prompt.KindCombined, prompt.StateDiscarded, gone},
	} {
		t.Run(string(c.kind)+" "+string(c.state), func(t *testing.T) {
			d := w.put(t, prompt.Delivery{Kind: c.kind, State: c.state, Content: "x"})
			w.refuses(t, c.want, func() (prompt.Queue, error) { return w.rewrite(t.Context(), d, "y") })
			w.refuses(t, c.want, func() (prompt.Queue, error) { return w.remove(t.Context(), d) })
			if c.state.Unfinished() {
				w.become(t, d.ID, prompt.StateAcknowledged) // one reservation at a time
			}
		})
	}
}

func changesForeign(t *testing.T, w *promptWorld) {
	d := w.enqueue(t, "q1")
	second, other := *w, newPromptWorld(t, w.world)
	second.sessionID = w.session(w.taskID, session.KindMain, nil).ID
	for _, elsewhere := range []*promptWorld{&second, other} {
		w.refuses(t, prompt.ErrEntryNotFound, func() (prompt.Queue, error) { return elsewhere.rewrite(t.Context(), d, "y") })
		w.refuses(t, prompt.ErrEntryNotFound, func() (prompt.Queue, error) { return elsewhere.remove(t.Context(), d) })
		w.refuses(t, prompt.ErrQueueChanged, func() (prompt.Queue, error) { return elsewhere.reorder(t.Context(), d.ID) })
	}
	w.refuses(t, prompt.ErrEntryNotFound, func() (prompt.Queue, error) { return w.remove(t.Context(), prompt.Delivery{ID: "order"}) })
	none := *w
	none.sessionID = domain.NewID()
	w.refuses(t, session.ErrNotFound, func() (prompt.Queue, error) { return none.remove(t.Context(), d) })
}

// Direct and combined ones keep their places between those that move.
func reorders(t *testing.T, w *promptWorld) {
	first := w.enqueue(t, "q1")
	fixed := w.put(t, prompt.Delivery{Kind: prompt.KindCombined, State: prompt.StatePending, Content: "x"})
	second, third := w.enqueue(t, "q2"), w.enqueue(t, "q3")
	q := w.changes(t, func() (prompt.Queue, error) { return w.reorder(t.Context(), third.ID, first.ID, second.ID) })
	want := []string{third.ID, fixed.ID, first.ID, second.ID}
	if diff := cmp.Diff(want, entryIDs(q)); diff != "" {
		t.Fatal(diff)
	}
	for i, d := range q.Entries {
		if d.Position != int64(i+1) || d.Version != 1 || d.UpdatedAt.Equal(d.CreatedAt) != (d.ID == fixed.ID) {
			t.Errorf("entry %d is %+v", i, d)
		}
	}
	for _, id := range want {
		r := w.reserve(t)
		if r.Delivery.ID != id {
			t.Errorf("handed out %s, want %s", r.Delivery.ID, id)
		}
		w.attempt(t, r)
		w.acknowledge(t, r, prompt.OutcomeFailed)
	}
	if last := w.enqueue(t, "q4"); last.Position != 5 {
		t.Errorf("the next is %+v", last)
	}
}

func reorderRefused(t *testing.T, w *promptWorld) {
	reserved := w.enqueue(t, "q0")
	w.reserve(t)
	first, second := w.enqueue(t, "q1"), w.enqueue(t, "q2")
	for name, ids := range map[string][]string{
		"one missing":     {second.ID},
		"none":            nil,
		"one twice":       {second.ID, second.ID},
		"a reserved one":  {second.ID, first.ID, reserved.ID},
		"in its place":    {second.ID, reserved.ID},
		"an unknown one":  {second.ID, domain.NewID()},
		"one too many":    {second.ID, first.ID, domain.NewID()},
		"one given again": {second.ID, first.ID, first.ID},
	} {
		t.Run(name, func(t *testing.T) {
			err := w.refusal(t, func() (prompt.Queue, error) { return w.reorder(t.Context(), ids...) })
			changed, ok := errors.AsType[*prompt.QueueChangedError](err)
			if !ok || !cmp.Equal(entryIDs(changed.Queue), []string{reserved.ID, first.ID, second.ID}) {
				t.Errorf("told %+v", changed)
			}
		})
	}
}

func reorderSame(t *testing.T, w *promptWorld) {
	ids := []string{w.enqueue(t, "q1").ID, w.enqueue(t, "q2").ID}
	w.notices.take()
	before := w.state(t)
	q, err := w.reorder(t.Context(), ids...)
	if err != nil || !slices.Equal(entryIDs(q), ids) || q.Tag() != w.queue(t).Tag() {
		t.Errorf("answered %+v, %v", q, err)
	}
	w.wantState(t, before)
}
