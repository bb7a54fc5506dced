package storetest

import (
	"errors"
	"sync/atomic"
	"testing"

	"gatehouse/domain/prompt"
)

// queueRaces shows what only concurrency shows of a queue.
func queueRaces(t *testing.T, world func(t *testing.T) *promptWorld) {
	for name, test := range map[string]func(*testing.T, *promptWorld){
		"AD-5 the last place has one taker":     raceCapacity,
		"AD-7 one of many queued ones admits":   raceQueued,
		"DL-5 an edit and a reserve":            raceEditReserve,
		"DL-5 a removal and a reserve":          raceRemoveReserve,
		"DL-5 one of many edits of one version": raceRewrites,
		"DL-6 no appended text is lost":         raceAppends,
	} {
		t.Run(name, func(t *testing.T) { test(t, world(t)) })
	}
}

// Of two prompts for the last place one is admitted, and the comment of the other
// stays pending.
func raceCapacity(t *testing.T, w *promptWorld) {
	const capacity = 2
	w = w.limited(capacity)
	w.enqueue(t, "first")
	for i := range 25 {
		requests := [2]prompt.Request{w.request(clientID(2*i), w.comment(t)), w.request(clientID(2*i+1), w.comment(t))}
		var answers [2]prompt.Admitted
		winner, loser, errs := contest(func(n int) (err error) {
			answers[n], err = w.service(n).AdmitQueued(t.Context(), requests[n])
			return err
		})
		if errs[winner] != nil || !errors.Is(errs[loser], prompt.ErrQueueFull) || len(w.queue(t).Entries) != capacity {
			t.Fatalf("race %d: %v and %v, queue is %+v", i, errs[0], errs[1], w.queue(t))
		}
		if left := w.snapshot(t).Comments; len(left) != 1 || left[0].ID != requests[loser].Refs[0].ID {
			t.Errorf("race %d: comments are %+v", i, left)
		}
		w.removeComments(t)
		if _, err := w.remove(t.Context(), answers[winner].Delivery); err != nil {
			t.Fatal(err)
		}
	}
}

func raceQueued(t *testing.T, w *promptWorld) {
	r := w.request("q1", w.comment(t))
	var admitted atomic.Int64
	crowd(racers, func(i int) {
		a, err := w.service(i).AdmitQueued(t.Context(), r)
		switch {
		case err != nil:
			t.Errorf("admit: %v", err)
		case !a.Replayed:
			admitted.Add(1)
		}
	})
	if s := w.state(t); admitted.Load() != 1 || len(s.Deliveries) != 1 || s.Sessions[0].QueueRevision != 1 {
		t.Errorf("%d admitted, left %+v", admitted.Load(), s)
	}
}

// Either the runner gets the edited text, or the edit is told that it has the entry.
func raceEditReserve(t *testing.T, w *promptWorld) {
	for i := range 10 {
		d := w.enqueue(t, clientID(i))
		var r *prompt.Reservation
		reserveErr, editErr := atOnce(
			func() (err error) { r, err = w.elsewhere.Reserve(t.Context(), w.taskID, w.sessionID, nil); return err },
			func() error { _, err := w.rewrite(t.Context(), d, "edited"); return err })
		if reserveErr != nil || r == nil {
			t.Fatalf("reserve: %+v, %v", r, reserveErr)
		}
		edited := r.Delivery.Content == "edited" && editErr == nil
		missed := r.Delivery.Content == "go on" && errors.Is(editErr, prompt.ErrEntryReserved)
		if !edited && !missed {
			t.Errorf("edit: %v, reserved %+v", editErr, r.Delivery)
		}
		w.attempt(t, *r)
		w.acknowledge(t, *r, prompt.OutcomeFailed)
	}
}

// Either the entry is removed and nobody gets it, or the other way round.
func raceRemoveReserve(t *testing.T, w *promptWorld) {
	for i := range 10 {
		d := w.enqueue(t, clientID(i))
		var r *prompt.Reservation
		reserveErr, removeErr := atOnce(
			func() (err error) { r, err = w.elsewhere.Reserve(t.Context(), w.taskID, w.sessionID, nil); return err },
			func() error { _, err := w.remove(t.Context(), d); return err })
		switch {
		case reserveErr == nil && r == nil && removeErr == nil:
		case reserveErr == nil && r != nil && errors.Is(removeErr, prompt.ErrEntryReserved):
			w.attempt(t, *r)
			w.acknowledge(t, *r, prompt.OutcomeFailed)
		default:
			t.Fatalf("remove: %v, reserve: %+v, %v", removeErr, r, reserveErr)
		}
	}
}

func raceRewrites(t *testing.T, w *promptWorld) {
	d := w.enqueue(t, "q1")
	var edited atomic.Int64
	crowd(racers, func(i int) {
		_, err := w.service(i).EditEntry(t.Context(), prompt.EntryEdit{
			TaskID: w.taskID, SessionID: w.sessionID, EntryID: d.ID, Content: clientID(i), ExpectedVersion: 1,
		})
		switch {
		case err == nil:
			edited.Add(1)
		case !errors.Is(err, prompt.ErrQueueChanged):
			t.Errorf("edit: %v", err)
		}
	})
	if q := w.queue(t); edited.Load() != 1 || q.Entries[0].Version != 2 || q.Revision != 2 {
		t.Errorf("%d edited, queue is %+v", edited.Load(), q)
	}
}

// Who reads meanwhile sees numbers and entries of one state.
func raceAppends(t *testing.T, w *promptWorld) {
	crowd(racers+1, func(i int) {
		if i == racers {
			for range racers {
				if q := w.queue(t); q.Revision > 0 && q.Entries[0].Version != q.Revision {
					t.Errorf("read %+v", q)
				}
			}
			return
		}
		_, _, err := w.service(i).Append(t.Context(), prompt.Addition{TaskID: w.taskID, SessionID: w.sessionID, Content: "x"})
		if err != nil {
			t.Errorf("append: %v", err)
		}
	})
	q := w.queue(t)
	if len(q.Entries) != 1 || q.Entries[0].Version != racers || len(q.Entries[0].Content) != racers+2*(racers-1) || q.Revision != racers {
		t.Errorf("queue is %+v", q)
	}
}
