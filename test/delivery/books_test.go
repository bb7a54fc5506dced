package delivery_test

import (
	"slices"
	"testing"
)

// books hold what the servers answered.
type books struct {
	admitted map[string]admitted // by delivery
	attempts map[string]int      // answered with success, by delivery
	tried    map[string]string   // outcomes, by delivery
	outcomes map[string]string   // of them those that were answered with success
	orphaned map[string]bool     // deliveries whose runner was killed
	ended    map[string]bool     // turns
	counts   map[string]int      // answers by step and status
}

// admitted is an accepted prompt.
type admitted struct{ session, clientID, content string }

func newBooks() books {
	return books{
		admitted: map[string]admitted{}, attempts: map[string]int{}, tried: map[string]string{}, outcomes: map[string]string{},
		orphaned: map[string]bool{}, ended: map[string]bool{}, counts: map[string]int{},
	}
}

// gone reports whether a delivery may be past the boundary.
func (b *books) gone(delivery string) bool {
	return b.attempts[delivery] > 0 || b.outcomes[delivery] != "" || b.orphaned[delivery]
}

// answers are those that a step may get, apart from none.
var answers = map[string][]string{
	stepReserve:     {"200", "204"},
	stepRenew:       {"200", "lease_lost"},
	stepRelease:     {"200", "lease_lost"},
	stepAttempt:     {"200", "lease_lost"},
	stepAgent:       {"0"},
	stepAcknowledge: {"200"},
	stepEnd:         {"200"},
}

// enter writes down what a runner was answered, and fails the test where it must not
// have been.
func (b *books) enter(t *testing.T, w *worker, n notice) {
	answer := n.answer()
	b.counts[n.Step+" "+answer]++
	if answer == "none" {
		w.unsure = w.unsure || n.Step == stepAttempt || n.Step == stepRelease
		return
	}
	if !b.allows(w, n, answer) {
		t.Errorf("%s of %s is answered %s; holds %t, late %t, unsure %t, stale %t", n.Step, n.Delivery, answer, w.holds, w.late, w.unsure, n.Stale)
	}
	switch {
	case n.Step == stepReserve:
		w.holds, w.late, w.unsure = n.Status == 200, false, false
	case n.Step == stepRelease, n.Step == stepAttempt, answer == "lease_lost":
		w.holds = false
	}
	if n.Status != 200 {
		return
	}
	switch n.Step {
	case stepAttempt:
		if b.attempts[n.Delivery]++; b.attempts[n.Delivery] > 1 {
			t.Errorf("delivery %s crossed the boundary twice", n.Delivery)
		}
	case stepAcknowledge:
		b.outcomes[n.Delivery] = n.Outcome
	case stepEnd:
		b.ended[n.Turn] = true
	}
}

// allows reports whether an answer is one that may be given now.
func (b *books) allows(w *worker, n notice, answer string) bool {
	switch {
	case n.Stale:
		return answer == "lease_lost" // DL-1
	case n.Step == stepAttempt && answer == "delivery_attempted":
		return w.unsure // by itself
	case w.late && w.holds:
		return answer == "lease_lost"
	default:
		return slices.Contains(answers[n.Step], answer)
	}
}
