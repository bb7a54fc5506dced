package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/prompt"
)

// owedMetrics tell what is owed to agents, and what became of it without them (OP-8).
// They are there from the start, at 0.
type owedMetrics struct {
	recovered *prometheus.CounterVec
	lost      prometheus.Counter
	depth     prometheus.Gauge
	oldest    prometheus.Gauge
}

func newOwedMetrics() owedMetrics {
	m := owedMetrics{
		recovered: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatehouse_recovery_total",
			Help: "Deliveries that recovery moved, by action.",
		}, []string{"action"}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gatehouse_delivery_lease_losses_total",
			Help: "Calls of runners that came with a lease they had lost.",
		}),
		depth: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gatehouse_delivery_queue_depth",
			Help: "Deliveries that are not finished, of all sessions in the database.",
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gatehouse_delivery_oldest_pending_age_seconds",
			Help: "Time since the admission of the oldest pending delivery in the database, 0 when there is none.",
		}),
	}
	for _, action := range prompt.Recoveries {
		m.recovered.WithLabelValues(string(action))
	}
	return m
}

func (m owedMetrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.recovered, m.lost, m.depth, m.oldest}
}

// LeaseLost implements prompt.Observer.
func (m owedMetrics) LeaseLost() { m.lost.Inc() }

// Recovered implements prompt.Observer.
func (m owedMetrics) Recovered(how prompt.Recovery) {
	m.recovered.WithLabelValues(string(how)).Inc()
}

// Owed implements prompt.Observer.
func (m owedMetrics) Owed(b prompt.Backlog) {
	m.depth.Set(float64(b.Unfinished))
	m.oldest.Set(b.OldestPending.Seconds())
}
