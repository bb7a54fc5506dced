package handlers

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/subagent"
)

// ContextMetrics counts the frames that tell of subagents (SC-40). Its label is a word
// of the domain.
type ContextMetrics struct{ frames *prometheus.CounterVec }

// NewContextMetrics registers the counters with reg, every outcome at 0.
func NewContextMetrics(reg prometheus.Registerer) (*ContextMetrics, error) {
	m := &ContextMetrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gatehouse_subagent_context_frames_total",
		Help: "Frames that told of subagents, by outcome: attempted is the sum of persisted, skipped_no_identity and failed; the others tell more of one.",
	}, []string{"outcome"})}
	if err := reg.Register(m.frames); err != nil {
		return nil, fmt.Errorf("register metrics of subagent contexts: %w", err)
	}
	for _, outcome := range subagent.FrameOutcomes {
		m.frames.WithLabelValues(string(outcome))
	}
	return m, nil
}

// Observed implements subagent.FrameObserver.
func (m *ContextMetrics) Observed(outcome subagent.FrameOutcome, frames int) {
	m.frames.WithLabelValues(string(outcome)).Add(float64(frames))
}
