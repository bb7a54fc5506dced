package plan

import "gatehouse/domain"

// Op names a mutation of pending comments for an [Observer].
type Op string

// The mutations. A prompt that consumes comments is counted as an admission.
const (
	OpCreate Op = "create"
	OpEdit   Op = "edit"
	OpDelete Op = "delete"
	OpImport Op = "import"
	OpOrphan Op = "orphan" // a save that takes comments along (PC-7)
)

// Observer counts what happens to pending comments. It returns at once and never
// fails.
type Observer interface {
	// Mutated is told of every mutation that was tried: "ok", "replayed", the code of
	// the [domain.Error] that refused it, or "error".
	Mutated(op Op, outcome string)
}

// ObservedBy returns the same operations, counted by o.
func (s *Service) ObservedBy(o Observer) *Service {
	observed := *s
	observed.observer = o
	return &observed
}

// observe counts a mutation that ended with err.
func (s *Service) observe(op Op, replayed bool, err error) {
	if s.observer == nil {
		return
	}
	result := "ok"
	switch {
	case err != nil:
		result = domain.CodeOf(err)
	case replayed:
		result = "replayed"
	}
	s.observer.Mutated(op, result)
}
