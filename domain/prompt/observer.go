package prompt

import "gatehouse/domain"

// Observer counts what happens to prompts. It returns at once and never fails.
type Observer interface {
	// Admitted is told of every admission that was tried: "admitted", "replayed", the
	// code of the [domain.Error] that refused it, or "error".
	Admitted(transport Kind, outcome string)

	// Delivered is told of every acknowledgement that settled a delivery.
	// Recovery, which gives a delivery up, counts as one that nobody could tell of.
	Delivered(outcome Outcome)

	// LeaseLost is told of every call that was answered [ErrLeaseLost] (DL-1).
	LeaseLost()

	// Recovered is told of every delivery that recovery moved (DL-3).
	Recovered(how Recovery)

	// Owed is told how much is owed to agents, at every look.
	Owed(b Backlog)
}

// unobserved is the Observer that counts nothing.
type unobserved struct{}

// Admitted implements Observer.
func (unobserved) Admitted(Kind, string) {}

// Delivered implements Observer.
func (unobserved) Delivered(Outcome) {}

// LeaseLost implements Observer.
func (unobserved) LeaseLost() {}

// Recovered implements Observer.
func (unobserved) Recovered(Recovery) {}

// Owed implements Observer.
func (unobserved) Owed(Backlog) {}

// outcomeOf is the word for an admission in [Observer.Admitted].
func outcomeOf(a Admitted, err error) string {
	switch {
	case err != nil:
		return domain.CodeOf(err)
	case a.Replayed:
		return "replayed"
	default:
		return "admitted"
	}
}
