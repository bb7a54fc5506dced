package subagent

import (
	"context"
	"fmt"
	"time"
)

// Health says whether contexts are kept as they should be, from what the database
// holds alone (SC-41).
type Health struct {
	Activation
	Found *Findings // nil while there is no CaptureSince to compare from, which is the signal then (SC-42)
}

// Findings compares messages with contexts, both as pairs of a session and a call,
// from CaptureSince on. What is missing on one side never makes up for what is missing
// on the other.
type Findings struct {
	// Shortfall counts the calls of which a message tells and no context. The writer
	// has failed, or stopped.
	Shortfall int64

	// Excess counts the calls of which a context tells and no message, of whatever
	// form. It is no fault.
	Excess int64

	// Collisions counts the contexts beyond one for each call: of executions that used
	// the same call id.
	Collisions int64

	// LastObservedAt is the time of the newest context; nil when there is none, which
	// means that nothing was produced, not that all is well.
	LastObservedAt *time.Time
}

// Alarms reports whether somebody has to look: contexts are not kept, or not told
// apart, or some are missing. An excess never alarms (SC-41).
func (h Health) Alarms() bool {
	return h.State() != ActivationComplete || h.Found.Shortfall > 0
}

// HealthObserver is told of each answer. It returns at once and never fails.
type HealthObserver interface {
	Examined(h Health)
}

// Health compares messages with contexts, and tells the observer. It reads every
// message: it is for when somebody asks, not for every scrape (SC-43).
func (s *Contexts) Health(ctx context.Context) (Health, error) {
	h, err := s.store.ContextHealth(ctx)
	if err != nil {
		return Health{}, fmt.Errorf("examine subagent contexts: %w", err)
	}
	if s.observer != nil {
		s.observer.Examined(h)
	}
	return h, nil
}
