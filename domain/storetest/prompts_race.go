package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// PromptsOfTwo shows that processes share the promises: open returns two stores on
// one database, with nothing but the database between them.
func PromptsOfTwo(t *testing.T, open func(tb testing.TB) (a, b Store)) {
	t.Helper()
	promptRaces(t, func(t *testing.T) *promptWorld { return newWorldOfTwo(t, open) })
}

// newWorldOfTwo is a world whose callers take turns with two stores.
func newWorldOfTwo(t *testing.T, open func(tb testing.TB) (a, b Store)) *promptWorld {
	t.Helper()
	a, b := open(t)
	w := newPromptWorld(t, newWorld(t, func(testing.TB) Store { return a }))
	w.far = b.Prompts()
	w.elsewhere = w.serving(prompt.Config{Store: w.far})
	return w
}

// promptRaces shows what only concurrency shows.
func promptRaces(t *testing.T, world func(t *testing.T) *promptWorld) {
	queueRaces(t, world)
	for name, test := range map[string]func(*testing.T, *promptWorld){
		"AD-7 one of 32 equal admissions admits":       raceAdmissions,
		"AD-7 one of many different requests admits":   raceConflicts,
		"AD-1 overlapping refs have one winner":        raceRefs,
		"a prompt and an edit of its comment":          raceEdit,
		"DL-1 one of many reserves gets it":            raceReserves,
		"DL-2 one of many attempts crosses":            raceAttempts,
		"one of many acknowledgements counts its turn": raceAcknowledgements,
		"DL-8 send now and reserve":                    raceSendNowReserve,
		"DL-8 send now and an edit":                    raceSendNowEdit,
		"DL-8 one of many sends now":                   raceSendNow,
	} {
		t.Run(name, func(t *testing.T) { test(t, world(t)) })
	}
}

func raceAdmissions(t *testing.T, w *promptWorld) {
	const callers = 32
	r := w.request("c1", w.comment(t))
	var admitted, replayed atomic.Int64
	var ids sync.Map
	crowd(callers, func(i int) {
		a, err := w.service(i).AdmitPrompt(t.Context(), r)
		switch {
		case err != nil:
			t.Errorf("admit: %v", err)
		case a.Replayed:
			replayed.Add(1)
		default:
			admitted.Add(1)
		}
		ids.Store(a.Delivery.ID, true)
	})
	if admitted.Load() != 1 || replayed.Load() != callers-1 {
		t.Errorf("%d admitted, %d replayed", admitted.Load(), replayed.Load())
	}
	s := w.state(t)
	if len(s.Deliveries) != 1 || s.Comments.Revision != 2 || len(s.Comments.Comments) != 0 || s.Sessions[0].LastMessageSeq != 1 {
		t.Errorf("left %+v", s)
	}
	ids.Range(func(id, _ any) bool {
		if id != s.Deliveries[0].ID {
			t.Errorf("somebody was told of %v", id)
		}
		return true
	})
}

// Requests that differ share a client id: one admits, the others conflict.
func raceConflicts(t *testing.T, w *promptWorld) {
	var admitted atomic.Int64
	crowd(racers, func(i int) {
		r := w.request("c1")
		r.Content = clientID(i)
		a, err := w.service(i).AdmitPrompt(t.Context(), r)
		switch {
		case err == nil && !a.Replayed:
			admitted.Add(1)
		case !errors.Is(err, prompt.ErrAdmissionConflict):
			t.Errorf("admit: %+v, %v", a, err)
		}
	})
	if s := w.state(t); admitted.Load() != 1 || len(s.Deliveries) != 1 {
		t.Errorf("%d admitted, left %+v", admitted.Load(), s.Deliveries)
	}
}

// Two prompts to two sessions of one task share a comment: one takes all it names,
// the other nothing.
func raceRefs(t *testing.T, w *promptWorld) {
	second := w.session(w.taskID, session.KindMain, nil)
	for i := range 25 {
		mine, shared, yours := w.comment(t), w.comment(t), w.comment(t)
		before := w.state(t)
		requests := [2]prompt.Request{
			w.request(clientID(2*i), mine, shared),
			w.request(clientID(2*i+1), yours, shared),
		}
		requests[1].SessionID = second.ID
		var answers [2]prompt.Admitted
		winner, loser, errs := contest(func(n int) (err error) {
			answers[n], err = w.service(n).AdmitPrompt(t.Context(), requests[n])
			return err
		})
		if errs[winner] != nil || !errors.Is(errs[loser], plan.ErrCommentsChanged) {
			t.Fatalf("race %d: %v and %v", i, errs[0], errs[1])
		}
		after := w.state(t)
		if after.Comments.Revision != before.Comments.Revision+1 || len(after.Comments.Comments) != len(before.Comments.Comments)-2 ||
			len(after.Deliveries) != len(before.Deliveries)+1 || after.Task.ChangeSeq != before.Task.ChangeSeq+1 {
			t.Fatalf("race %d left %+v", i, after)
		}
		wantChanged(t, errs[loser], after.Comments)
		if _, err := w.prompts.Receipt(t.Context(), w.taskID, requests[loser].ClientID); !errors.Is(err, prompt.ErrAdmissionNotFound) {
			t.Errorf("race %d: the loser's receipt: %v", i, err)
		}
		for _, s := range after.Sessions {
			if s.ID == requests[loser].SessionID && s.QueueRevision != sessionOf(before, s.ID).QueueRevision {
				t.Errorf("race %d: the loser's session is %+v", i, s)
			}
		}
		w.settle(t, answers[winner].Delivery.SessionID)
		w.removeComments(t)
	}
}

func sessionOf(s promptState, id string) session.Session {
	for _, ses := range s.Sessions {
		if ses.ID == id {
			return ses
		}
	}
	return session.Session{}
}

// settle brings the head of a session to its end, so that the next prompt can come.
func (w *promptWorld) settle(t *testing.T, sessionID string) {
	t.Helper()
	r, err := w.prompts.Reserve(t.Context(), w.taskID, sessionID, nil)
	if err != nil || r == nil {
		t.Fatalf("reserve: %+v, %v", r, err)
	}
	w.attempt(t, *r)
	w.acknowledge(t, *r, prompt.OutcomeFailed)
}

// removeComments empties the plan.
func (w *promptWorld) removeComments(t *testing.T) {
	t.Helper()
	for _, c := range w.snapshot(t).Comments {
		if _, err := w.plans.DeleteComment(t.Context(), w.removal(w.planID, c.Ref())); err != nil {
			t.Fatal(err)
		}
	}
}

// An edit and the admission of the version before it: the comment ends in one place.
func raceEdit(t *testing.T, w *promptWorld) {
	for i := range 10 {
		c := w.comment(t)
		admitErr, editErr := atOnce(
			func() error { _, err := w.elsewhere.AdmitPrompt(t.Context(), w.request(clientID(i), c)); return err },
			func() error {
				_, err := w.plans.EditComment(t.Context(), w.edit(w.planID, c.Ref(), "edited"))
				return err
			})
		left := w.snapshot(t).Comments
		switch {
		case admitErr == nil && errors.Is(editErr, plan.ErrCommentsChanged) && len(left) == 0:
			w.settle(t, w.sessionID)
		case editErr == nil && errors.Is(admitErr, plan.ErrCommentsChanged) && len(left) == 1:
			w.removeComments(t)
		default:
			t.Fatalf("admission: %v, edit: %v, left %+v", admitErr, editErr, left)
		}
	}
}

func raceReserves(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	w.enqueue(t, "q2")
	w.expire(t, w.reserve(t))
	var given atomic.Int64
	crowd(racers, func(i int) {
		r, err := w.service(i).Reserve(t.Context(), w.taskID, w.sessionID, nil)
		if err != nil {
			t.Errorf("reserve: %v", err)
		} else if r != nil {
			given.Add(1)
		}
	})
	if given.Load() != 1 {
		t.Errorf("%d got a reservation", given.Load())
	}
}

func raceAttempts(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	r := w.reserve(t)
	var crossed atomic.Int64
	crowd(racers, func(i int) {
		_, err := w.service(i).Attempt(t.Context(), w.taskID, r.Delivery.ID, r.Token)
		if err == nil {
			crossed.Add(1)
		} else if !errors.Is(err, prompt.ErrAttempted) {
			t.Errorf("attempt: %v", err)
		}
	})
	if s := w.state(t); crossed.Load() != 1 || len(s.Turns) != 1 || s.Sessions[0].LastMessageSeq != 1 {
		t.Errorf("%d crossed, turns %+v, session %+v", crossed.Load(), s.Turns, s.Sessions[0])
	}
}

func raceAcknowledgements(t *testing.T, w *promptWorld) {
	w.admit(t, w.request("c1"))
	r := w.pass(t)
	before := w.state(t).Task.ChangeSeq
	crowd(racers, func(i int) {
		if _, err := w.service(i).Acknowledge(t.Context(), w.taskID, r.Delivery.ID, r.Token, prompt.OutcomeFailed, nil); err != nil {
			t.Errorf("acknowledge: %v", err)
		}
	})
	if s := w.state(t); s.Task.ChangeSeq != before+1 || s.Turns[0].State != session.TurnFailed {
		t.Errorf("change %d after %d, turns %+v", s.Task.ChangeSeq, before, s.Turns)
	}
}
