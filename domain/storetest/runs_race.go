package storetest

import (
	"errors"
	"sync/atomic"
	"testing"

	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// RunsOfTwo shows that Run keeps its promises whatever processes do: open returns two
// stores on one database, with nothing but the database between them.
func RunsOfTwo(t *testing.T, open func(tb testing.TB) (a, b Store)) {
	t.Helper()
	runRaces(t, func(t *testing.T) *promptWorld { return newWorldOfTwo(t, open) })
}

// runRaces shows what only concurrency shows.
func runRaces(t *testing.T, world func(t *testing.T) *promptWorld) {
	for name, test := range map[string]func(*testing.T, *promptWorld){
		"AD-7 one of many equal runs admits":     raceRuns,
		"AD-9 a run and a change of the primary": raceRunPrimary,
		"AD-9 a run and a turn that starts":      raceRunState,
		"AD-1 one of many runs gets the comment": raceRunComment,
	} {
		t.Run(name, func(t *testing.T) { test(t, world(t)) })
	}
}

func raceRuns(t *testing.T, w *promptWorld) {
	r := w.runOf("r1", w.comment(t))
	var admitted atomic.Int64
	crowd(racers, func(i int) {
		a, err := w.service(i).Run(t.Context(), r)
		if err != nil {
			t.Errorf("run: %v", err)
		} else if !a.Replayed {
			admitted.Add(1)
		}
	})
	if s := w.state(t); admitted.Load() != 1 || len(s.Deliveries) != 1 {
		t.Errorf("%d admitted, left %+v", admitted.Load(), s.Deliveries)
	}
}

func raceRunComment(t *testing.T, w *promptWorld) {
	c := w.comment(t)
	var admitted atomic.Int64
	crowd(racers, func(i int) {
		_, err := w.service(i).Run(t.Context(), w.runOf(clientID(i), c))
		if err == nil {
			admitted.Add(1)
		} else if !errors.Is(err, plan.ErrCommentsChanged) {
			t.Errorf("run: %v", err)
		}
	})
	if s := w.state(t); admitted.Load() != 1 || len(s.Deliveries) != 1 || len(s.Comments.Comments) != 0 {
		t.Errorf("%d admitted, left %+v", admitted.Load(), s)
	}
}

// The primary session changes once: the comment goes to the one or the other.
func raceRunPrimary(t *testing.T, w *promptWorld) {
	second := w.session(w.taskID, session.KindMain, nil).ID
	targets := [2]string{second, w.sessionID}
	for i := range 20 {
		c := w.comment(t)
		var a prompt.Admitted
		runErr, setErr := atOnce(
			func() (err error) { a, err = w.elsewhere.Run(t.Context(), w.runOf(clientID(i), c)); return err },
			func() error { _, err := w.tasks.SetPrimary(t.Context(), w.taskID, &targets[i%2]); return err })
		if runErr != nil || setErr != nil {
			t.Fatalf("run: %v, change: %v", runErr, setErr)
		}
		if got := a.Delivery; got.SessionID != targets[0] && got.SessionID != targets[1] || got.Kind != prompt.KindDirect {
			t.Errorf("ran as %+v", got)
		}
		w.settle(t, a.Delivery.SessionID)
	}
}

// The session turns busy: the comment goes first, or waits.
func raceRunState(t *testing.T, w *promptWorld) {
	for i := range 20 {
		c := w.comment(t)
		var a prompt.Admitted
		runErr, setErr := atOnce(
			func() (err error) { a, err = w.elsewhere.Run(t.Context(), w.runOf(clientID(i), c)); return err },
			func() error {
				_, err := w.sessions.Update(t.Context(), w.taskID, w.sessionID, session.Patch{State: new(session.StateRunning)})
				return err
			})
		if runErr != nil || setErr != nil || len(w.snapshot(t).Comments) != 0 {
			t.Fatalf("run: %v, change: %v", runErr, setErr)
		}
		if got := a.Delivery; got.SessionID != w.sessionID || (got.Kind == prompt.KindDirect) != (a.Message != nil) {
			t.Errorf("ran as %+v", got)
		}
		w.setState(t, w.sessionID, session.StateIdle)
		w.settle(t, w.sessionID)
	}
}
