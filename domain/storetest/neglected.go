package storetest

import (
	"testing"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
)

// wantNeglected compares what recovery has left for longer than patience.
func (w *promptWorld) wantNeglected(t *testing.T, patience time.Duration, want prompt.Neglected) {
	t.Helper()
	if got, err := w.prompts.Neglected(t.Context(), patience); err != nil || got != want {
		t.Errorf("neglected for %s: %+v, %v, want %+v", patience, got, err, want)
	}
}

// A combination is one attempt, however many sources it has (DL-8).
func countsNeglected(t *testing.T, w *promptWorld) {
	w.wantNeglected(t, 0, prompt.Neglected{})
	sources := []prompt.Delivery{w.enqueue(t, "q1"), w.enqueue(t, "q2")}
	w.send(t)
	r := w.reserve(t)
	w.wantNeglected(t, 0, prompt.Neglected{})
	w.expire(t, r)
	w.wantNeglected(t, 0, prompt.Neglected{Reservations: 1})
	w.wantNeglected(t, 24*time.Hour, prompt.Neglected{})

	r = w.reserve(t)
	w.attempt(t, r)
	w.attemptedLongAgo(t, r, domain.DefaultAcknowledgeTimeout+time.Hour)
	for _, source := range sources {
		w.attemptedLongAgo(t, prompt.Reservation{Delivery: source}, domain.DefaultAcknowledgeTimeout+time.Hour)
	}
	w.wantNeglected(t, 0, prompt.Neglected{Attempts: 1})
	w.wantNeglected(t, 2*time.Hour, prompt.Neglected{})
	w.recover(t)
	w.wantNeglected(t, 0, prompt.Neglected{})
}
