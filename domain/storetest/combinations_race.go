package storetest

import (
	"errors"
	"sync/atomic"
	"testing"

	"gatehouse/domain/prompt"
)

// One sends the head now while another reserves it: it goes to one of them, and to
// both never.
func raceSendNowReserve(t *testing.T, w *promptWorld) {
	for i := range 10 {
		w.enqueue(t, clientID(2*i))
		w.enqueue(t, clientID(2*i+1))
		request := w.sendNowOf(t)
		request.Reserve = true
		var sent prompt.Delivery
		var token prompt.Token
		var reserved *prompt.Reservation
		reserveErr, sendErr := atOnce(
			func() (err error) {
				reserved, err = w.elsewhere.Reserve(t.Context(), w.taskID, w.sessionID, nil)
				return err
			},
			func() (err error) { sent, token, err = w.prompts.SendNow(t.Context(), request); return err })
		if reserveErr != nil {
			t.Fatalf("race %d: reserve: %v", i, reserveErr)
		}
		switch {
		case sendErr == nil && reserved == nil:
			w.finish(t, prompt.Reservation{Delivery: sent, Token: token})
		case errors.Is(sendErr, prompt.ErrSendNowConflict) && reserved != nil:
			w.finish(t, *reserved)
			w.settle(t, w.sessionID)
		default:
			t.Fatalf("race %d: sent %+v, %v; reserved %+v", i, sent, sendErr, reserved)
		}
		w.wantEntries(t)
	}
}

// finish brings a reservation to its end.
func (w *promptWorld) finish(t *testing.T, r prompt.Reservation) {
	t.Helper()
	w.attempt(t, r)
	w.acknowledge(t, r, prompt.OutcomeFailed)
}

// One edits an entry while another sends it now: what is sent is what the editor left,
// or the editor is told that it is gone.
func raceSendNowEdit(t *testing.T, w *promptWorld) {
	for i := range 10 {
		d := w.enqueue(t, clientID(i))
		request := w.sendNowOf(t)
		editErr, sendErr := atOnce(
			func() error { _, err := w.rewrite(t.Context(), d, "edited"); return err },
			func() error { _, _, err := w.elsewhere.SendNow(t.Context(), request); return err })
		got := w.stored(t, d.ID)
		switch {
		case sendErr == nil && errors.Is(editErr, prompt.ErrEntryNotEditable):
			if got.Content != d.Content || got.State != prompt.StateCombined {
				t.Errorf("race %d: sent %+v", i, got)
			}
		case errors.Is(sendErr, prompt.ErrQueueChanged) && editErr == nil:
			if got.Content != "edited" || got.State != prompt.StatePending {
				t.Errorf("race %d: edited %+v", i, got)
			}
		default:
			t.Fatalf("race %d: sent: %v, edited: %v", i, sendErr, editErr)
		}
		w.settle(t, w.sessionID)
	}
}

func raceSendNow(t *testing.T, w *promptWorld) {
	w.three(t)
	request := w.sendNowOf(t)
	var sent atomic.Int64
	crowd(racers, func(i int) {
		_, _, err := w.service(i).SendNow(t.Context(), request)
		if err == nil {
			sent.Add(1)
		} else if !errors.Is(err, prompt.ErrQueueChanged) {
			t.Errorf("send now: %v", err)
		}
	})
	if n := len(w.queue(t).Entries); sent.Load() != 1 || n != 4 {
		t.Errorf("%d sent, %d entries", sent.Load(), n)
	}
}
