package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/plan"
)

// PlanMetrics counts what happens to pending plan comments (OP-8). Its labels are
// words of the domain.
type PlanMetrics struct{ mutations *prometheus.CounterVec }

// NewPlanMetrics registers the counter with reg.
func NewPlanMetrics(reg prometheus.Registerer) (*PlanMetrics, error) {
	m := &PlanMetrics{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "gatehouse_plan_comment_mutations_total",
		Help: "Mutations of pending plan comments that were tried, by what they do and outcome: ok, replayed, or why not.",
	}, []string{"op", "outcome"})}
	return m, register(reg, "plans", m.mutations)
}

// Mutated implements plan.Observer.
func (m *PlanMetrics) Mutated(op plan.Op, outcome string) {
	m.mutations.WithLabelValues(string(op), outcome).Inc()
}
