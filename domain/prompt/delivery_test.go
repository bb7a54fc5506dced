package prompt

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"
)

var allStates = []State{
	StatePending, StateReserved, StateAttempted, StateAcknowledged, StateOutcomeUnknown,
	StateCancelled, StateDiscarded, StateCombined, StateRequeued,
}

// The table in the comment of the package is the one of the code.
func TestTableOfTransitions(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^//\t(\w*) +(\w+) {2,}\S`)
	told := make(map[State][]State)
	var from State
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		if m[1] == "state" {
			continue
		}
		if m[1] != "" {
			from = State(m[1])
		}
		told[from] = append(told[from], State(m[2]))
	}
	for _, s := range allStates {
		if want := transitions[s]; !slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(told[s]))) {
			t.Errorf("from %s to %v, the table has %v", s, want, told[s])
		}
	}
}

// DL-2: from the boundary on no way leads back to where a delivery is handed out.
func TestTransitionsNeverCrossTheBoundaryTwice(t *testing.T) {
	reached := []State{StateAttempted}
	for i := 0; i < len(reached); i++ {
		for _, next := range transitions[reached[i]] {
			if !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	for _, s := range []State{StatePending, StateReserved, StateCombined} {
		if slices.Contains(reached, s) {
			t.Errorf("%s can follow an attempt", s)
		}
	}
}

// Every state that may follow notes its time; every other panics.
func TestBecome(t *testing.T) {
	at := map[State]func(Delivery) *time.Time{
		StatePending:        func(d Delivery) *time.Time { return &d.PendingAt },
		StateReserved:       func(d Delivery) *time.Time { return d.ReservedAt },
		StateAttempted:      func(d Delivery) *time.Time { return d.AttemptedAt },
		StateAcknowledged:   func(d Delivery) *time.Time { return d.AcknowledgedAt },
		StateOutcomeUnknown: func(d Delivery) *time.Time { return d.OutcomeUnknownAt },
		StateCombined:       func(d Delivery) *time.Time { return d.CombinedAt },
		StateRequeued:       func(d Delivery) *time.Time { return d.RequeuedAt },
		StateCancelled:      func(d Delivery) *time.Time { return d.CancelledAt },
		StateDiscarded:      func(d Delivery) *time.Time { return d.DiscardedAt },
	}
	for _, from := range allStates {
		for _, next := range allStates {
			t.Run(string(from)+" "+string(next), func(t *testing.T) {
				defer func() {
					if panicked := recover() != nil; panicked == from.CanBecome(next) {
						t.Errorf("panicked: %v", panicked)
					}
				}()
				d := Delivery{State: from, LeaseExpiresAt: &noon}
				d.become(next, noon)
				if got := at[next](d); got == nil || !got.Equal(noon) || d.State != next || !d.UpdatedAt.Equal(noon) {
					t.Errorf("became %+v", d)
				}
				if (d.LeaseExpiresAt != nil) != (next == StateReserved) {
					t.Errorf("lease expires at %v", d.LeaseExpiresAt)
				}
			})
		}
	}
}

// DL-1, DL-2: who may attempt or release, and what everybody else is told.
func TestCheckReserved(t *testing.T) {
	token, other := newToken(), newToken()
	reserved := Delivery{State: StatePending}
	reserved.reserve(token, noon, noon.Add(time.Second))
	attempted := reserved
	attempted.become(StateAttempted, noon)
	released := reserved
	released.unreserve(noon)
	again := released
	again.reserve(other, noon, noon.Add(time.Minute))
	discarded := reserved
	discarded.become(StateDiscarded, noon)

	for name, c := range map[string]struct {
		d     Delivery
		token Token
		after time.Duration
		want  error
	}{
		"the holder":                     {reserved, token, 0, nil},
		"the holder, at the last moment": {reserved, token, time.Second - time.Microsecond, nil},
		"the holder, too late":           {reserved, token, time.Second, ErrLeaseLost},
		"somebody else":                  {reserved, other, 0, ErrLeaseLost},
		"nobody":                         {reserved, "", 0, ErrLeaseLost},
		"who has attempted":              {attempted, token, time.Hour, ErrAttempted},
		"somebody else, attempted":       {attempted, other, 0, ErrLeaseLost},
		"who has released":               {released, token, 0, ErrLeaseLost},
		"the one before":                 {again, token, 0, ErrLeaseLost},
		"the one after":                  {again, other, 0, nil},
		"the holder, discarded":          {discarded, token, 0, ErrLeaseLost},
		"nobody, never reserved":         {Delivery{State: StatePending}, "", 0, ErrLeaseLost},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.d.checkReserved(c.token, noon.Add(c.after)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// A token is 256 bits, never the same, and stored as something else.
func TestToken(t *testing.T) {
	one, other := newToken(), newToken()
	if len(one) != 43 || one == other || one.hash() == string(one) || len(one.hash()) != 64 {
		t.Errorf("tokens %q and %q, hash %q", one, other, one.hash())
	}
}

// What an acknowledgement makes of every state: the first word counts.
func TestSettle(t *testing.T) {
	token := newToken()
	in := func(states ...State) Delivery {
		d := Delivery{State: StatePending}
		d.reserve(token, noon, noon.Add(time.Second))
		for _, s := range states {
			d.become(s, noon)
		}
		return d
	}
	for name, c := range map[string]struct {
		d       Delivery
		token   Token
		outcome Outcome
		want    State
		changed bool
		err     error
	}{
		"success":                  {in(StateAttempted), token, OutcomeSucceeded, StateAcknowledged, true, nil},
		"failure":                  {in(StateAttempted), token, OutcomeFailed, StateAcknowledged, true, nil},
		"doubt":                    {in(StateAttempted), token, OutcomeUnknown, StateOutcomeUnknown, true, nil},
		"certainty, late":          {in(StateAttempted, StateOutcomeUnknown), token, OutcomeSucceeded, StateAcknowledged, true, nil},
		"doubt twice":              {in(StateAttempted, StateOutcomeUnknown), token, OutcomeUnknown, StateOutcomeUnknown, false, nil},
		"success twice":            {in(StateAttempted, StateAcknowledged), token, OutcomeSucceeded, StateAcknowledged, false, nil},
		"doubt after certainty":    {in(StateAttempted, StateAcknowledged), token, OutcomeUnknown, StateAcknowledged, false, nil},
		"after a person requeued":  {in(StateAttempted, StateOutcomeUnknown, StateRequeued), token, OutcomeFailed, StateRequeued, false, nil},
		"before the attempt":       {in(), token, OutcomeSucceeded, StateReserved, false, ErrNotAttempted},
		"discarded before attempt": {in(StateDiscarded), token, OutcomeSucceeded, StateDiscarded, false, ErrNotAttempted},
		"somebody else":            {in(StateAttempted), "x", OutcomeSucceeded, StateAttempted, false, ErrLeaseLost},
	} {
		t.Run(name, func(t *testing.T) {
			changed, err := c.d.settle(c.token, c.outcome, nil, noon)
			if changed != c.changed || !errors.Is(err, c.err) || c.d.State != c.want {
				t.Errorf("got %v, %v, %s", changed, err, c.d.State)
			}
		})
	}
}
