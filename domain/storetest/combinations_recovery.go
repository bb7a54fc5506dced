package storetest

import (
	"testing"
	"time"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// A combination is overdue, and its sources with it: they are given up together, and
// counted as the one attempt that there was (DL-3, DL-8).
func recoversCombination(t *testing.T, w *promptWorld) {
	ids := []string{w.enqueue(t, "q1").ID, w.enqueue(t, "q2").ID}
	w.send(t)
	lost := w.reserve(t)
	w.expire(t, lost)
	c := w.counted()
	w.recover(t)
	if d := w.stored(t, lost.Delivery.ID); d.State != prompt.StatePending || w.stored(t, ids[0]).State != prompt.StateCombined {
		t.Errorf("recovered %+v", d)
	}
	r := w.pass(t)
	old := 2 * prompt.DefaultAcknowledgeTimeout
	w.attemptedLongAgo(t, r, old)
	for _, id := range ids {
		w.attemptedLongAgo(t, prompt.Reservation{Delivery: prompt.Delivery{ID: id}}, old+time.Second)
	}
	w.recover(t)
	d := w.stored(t, r.Delivery.ID)
	if d.State != prompt.StateOutcomeUnknown || c.recovered[prompt.RecoveryOutcomeUnknown] != 1 || c.delivered[prompt.OutcomeUnknown] != 1 {
		t.Errorf("recovered %+v, counted %+v", d, c)
	}
	w.wantSources(t, d, ids...)
	if turns := w.state(t).Turns; len(turns) != 1 || turns[0].State != session.TurnFailed {
		t.Errorf("turns are %+v", turns)
	}
	w.wantSources(t, w.acknowledge(t, r, prompt.OutcomeSucceeded), ids...)
}
