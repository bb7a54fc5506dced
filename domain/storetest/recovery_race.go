package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// RecoveryFaults shows that a task that fails does not stop the others (DL-3).
func RecoveryFaults(t *testing.T, open Open, probe Probe) {
	first := newPromptWorld(t, newWorld(t, open))
	second := newPromptWorld(t, first.world)
	for _, w := range []*promptWorld{first, second} {
		for i := range 2 {
			w.sessionID = w.session(w.taskID, session.KindMain, nil).ID
			w.admit(t, w.request(clientID(i)))
			w.expire(t, w.reserve(t))
		}
	}
	passing, locks := false, 0
	probe(t, first.store, func(sql string) error {
		if !passing || !strings.Contains(sql, "FROM tasks WHERE id = $1") {
			return nil
		}
		if locks++; locks > 1 {
			return nil
		}
		return errInjected // of the first task, whose deliveries are overdue for longer
	})
	passing = true
	if err := first.prompts.Recover(t.Context()); !errors.Is(err, errInjected) {
		t.Errorf("recovery answers %v", err)
	}
	passing = false
	if locks != 3 {
		t.Errorf("tasks were locked %d times in one pass, want once for the failing one and twice for the other", locks)
	}
	for w, want := range map[*promptWorld]prompt.State{first: prompt.StateReserved, second: prompt.StatePending} {
		for _, d := range w.state(t).Deliveries {
			if d.State != want {
				t.Errorf("%s is %s, want %s", d.ID, d.State, want)
			}
		}
	}
	first.recover(t)
	for _, d := range first.state(t).Deliveries {
		if d.State != prompt.StatePending {
			t.Errorf("the next pass left %+v", d)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	wantErr(t, first.prompts.Recover(ended), context.Canceled)
}

// RecoveryOfTwo shows that recovery of two processes moves each delivery once, and
// loses none to those who reserve meanwhile (DL-3).
func RecoveryOfTwo(t *testing.T, open func(tb testing.TB) (a, b Store)) {
	t.Helper()
	a, b := open(t)
	w := newPromptWorld(t, newWorld(t, func(testing.TB) Store { return a }))
	c := w.counted()
	w.elsewhere = w.serving(prompt.Config{Store: b.Prompts(), Observer: c})
	const sessions = 12
	expired, given := 0, make(chan prompt.Reservation, sessions)
	for i := range sessions {
		w.sessionID = w.session(w.taskID, session.KindMain, nil).ID
		w.admit(t, w.request(clientID(i)))
		if i%3 == 0 {
			w.attemptedLongAgo(t, w.pass(t), domain.DefaultAcknowledgeTimeout)
			continue
		}
		w.expire(t, w.reserve(t))
		expired++
	}
	before := w.state(t)
	crowd(racers, func(i int) {
		if i%4 == 3 { // takes what is over, also before recovery has seen it
			for _, s := range before.Sessions {
				if r, err := w.service(i/4).Reserve(t.Context(), w.taskID, s.ID, nil); err != nil {
					t.Errorf("reserve: %v", err)
				} else if r != nil {
					given <- *r
				}
			}
			return
		}
		if err := w.service(i).Recover(t.Context()); err != nil {
			t.Errorf("recover: %v", err)
		}
	})
	close(given)
	for r := range given {
		w.attempt(t, r) // nobody took it away
		expired--
	}
	if expired != 0 {
		t.Errorf("%d reservations too few", expired)
	}
	if got := c.recovered[prompt.RecoveryOutcomeUnknown]; got != sessions/3 || c.delivered[prompt.OutcomeUnknown] != got {
		t.Errorf("gave up %d of %d: %+v", got, sessions/3, c)
	}
}
