package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/subagent"
)

// ContextMetrics counts the frames that tell of subagents (SC-40), and shows what the
// last look at their contexts found (SC-43). Its label is a word of the domain.
type ContextMetrics struct {
	frames    *prometheus.CounterVec
	shortfall *prometheus.GaugeVec
	excess    *prometheus.GaugeVec
}

// NewContextMetrics registers the metrics with reg, every outcome at 0. Nobody has looked
// yet, so there are no gauges: their 0 would say that all is well.
func NewContextMetrics(reg prometheus.Registerer) (*ContextMetrics, error) {
	m := &ContextMetrics{
		frames: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatehouse_subagent_context_frames_total",
			Help: "Frames that told of subagents, by outcome: attempted is the sum of persisted, skipped_no_identity and failed; the others tell more of one.",
		}, []string{"outcome"}),
		shortfall: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gatehouse_subagent_context_shortfall",
			Help: "Invocations of subagents that a message tells of and no context, when somebody last asked.",
		}, nil),
		excess: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gatehouse_subagent_context_excess",
			Help: "Invocations of subagents that a context tells of and no message, when somebody last asked.",
		}, nil),
	}
	for _, outcome := range subagent.RecordOutcomes {
		m.frames.WithLabelValues(string(outcome))
	}
	return m, register(reg, "subagent contexts", m.frames, m.shortfall, m.excess)
}

// Observed implements subagent.RecordObserver.
func (m *ContextMetrics) Observed(outcome subagent.RecordOutcome, frames int) {
	m.frames.WithLabelValues(string(outcome)).Add(float64(frames))
}

// Examined implements subagent.HealthObserver.
func (m *ContextMetrics) Examined(h subagent.Health) {
	if h.Found == nil { // nothing was compared (SC-42)
		m.shortfall.Reset()
		m.excess.Reset()
		return
	}
	m.shortfall.WithLabelValues().Set(float64(h.Found.Shortfall))
	m.excess.WithLabelValues().Set(float64(h.Found.Excess))
}
