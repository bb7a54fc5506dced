package storetest

import (
	"fmt"
	"sync"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
)

// HistoryFaults breaks every statement of an append, before and after it: a batch is
// stored whole or not at all, and its retry settles it (HI-9, QU-22).
func HistoryFaults(t *testing.T, open Open, probe Probe) {
	f := &faults{world: newWorld(t, open)}
	probe(t, f.world.store, f.step)
	calls := f.append(t, 0)
	for at := 1; at <= calls; at++ {
		t.Run(fmt.Sprintf("call %d of %d", at, calls), func(t *testing.T) { f.append(t, at) })
	}
}

// append appends a batch that touches every table, with a fault at a call, and
// returns how many calls it took.
func (f *faults) append(t *testing.T, at int) (calls int) {
	w := newHistoryWorld(t, f.world)
	turn := w.turn(w.main)
	waiting := w.start(t, w.child(w.main), "call")
	batch := []history.NewMessage{user(), works("a", "b"), delegates("call")}
	for i := range batch {
		batch[i].ID = domain.NewID()
	}
	batch[0].TurnID = &turn.ID
	err := f.during(at, nil, func() error {
		_, err := w.history.Append(t.Context(), w.taskID, w.main.ID, batch)
		return err
	})
	if at == 0 && err != nil {
		t.Fatal(err)
	}
	calls = f.seen
	if stored := len(w.read(t, w.main, history.PageQuery{}).Messages); stored != 0 && stored != len(batch) || err == nil && stored == 0 {
		t.Errorf("%d messages are stored after %v", stored, err)
	}
	settled := w.say(t, w.main, batch...)
	for i, r := range settled.Results {
		if r.Seq != int64(i+1) {
			t.Errorf("retry is %+v", settled)
		}
	}
	w.wantShown(t, w.main, map[int64][]string{2: {"a", "b"}})
	w.wantBound(t, waiting, 3)
	return calls
}

// appendIDRaces has two tasks append the same ids at once: each id is one message,
// and the other task's batch is refused whole.
func appendIDRaces(t *testing.T, w *historyWorld) {
	other := newHistoryWorld(t, w.world)
	for range 10 {
		batch := []history.NewMessage{user(), user()}
		batch[0].ID, batch[1].ID = domain.NewID(), domain.NewID()
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for i, of := range []*historyWorld{w, other} {
			wg.Go(func() { _, errs[i] = of.history.Append(t.Context(), of.taskID, of.main.ID, batch) })
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("errors are %v", errs)
		}
		for _, err := range errs {
			if err != nil {
				wantErr(t, err, session.ErrMessageConflict)
			}
		}
	}
	total := int64(0)
	for _, of := range []*historyWorld{w, other} {
		page := of.read(t, of.main, history.PageQuery{Limit: new(200)})
		if page.LastSeq != int64(len(page.Messages)) {
			t.Errorf("last seq is %d of %d messages", page.LastSeq, len(page.Messages))
		}
		total += page.LastSeq
	}
	if total != 20 {
		t.Errorf("%d messages, want 20", total)
	}
}
