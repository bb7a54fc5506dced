package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/prompt"
)

// PromptMetrics counts what happens to prompts (OP-8). Its labels are words of the
// domain: transports, outcomes and the codes of failures.
type PromptMetrics struct {
	admissions *prometheus.CounterVec
	deliveries *prometheus.CounterVec
	owedMetrics
}

// NewPromptMetrics registers them with reg. What an alert is about is there from the
// start, at 0.
func NewPromptMetrics(reg prometheus.Registerer) (*PromptMetrics, error) {
	m := &PromptMetrics{
		admissions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatehouse_admissions_total",
			Help: "Prompts asked to be admitted, by transport and outcome: admitted, replayed, or why not.",
		}, []string{"transport", "outcome"}),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatehouse_deliveries_total",
			Help: "Deliveries that were settled, by outcome: by runners, and as unknown by recovery.",
		}, []string{"outcome"}),
		owedMetrics: newOwedMetrics(),
	}
	for _, outcome := range prompt.Outcomes {
		m.deliveries.WithLabelValues(string(outcome))
	}
	return m, register(reg, "prompts", append(m.all(), m.admissions, m.deliveries)...)
}

// Admitted implements prompt.Observer.
func (m *PromptMetrics) Admitted(transport prompt.Kind, outcome string) {
	m.admissions.WithLabelValues(string(transport), outcome).Inc()
}

// Delivered implements prompt.Observer.
func (m *PromptMetrics) Delivered(outcome prompt.Outcome) {
	m.deliveries.WithLabelValues(string(outcome)).Inc()
}
