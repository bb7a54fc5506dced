package handlers

import (
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/feed"
)

// FeedMetrics counts the streams of events (OP-8). It implements [feed.Observer].
type FeedMetrics struct {
	subscribers prometheus.Gauge
	disconnects *prometheus.CounterVec
}

// NewFeedMetrics registers them with reg. Every reason is there from the start, at 0.
func NewFeedMetrics(reg prometheus.Registerer) (*FeedMetrics, error) {
	m := &FeedMetrics{
		subscribers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gatehouse_event_subscribers",
			Help: "Streams of events that are open, and subscriptions of WebSockets.",
		}),
		disconnects: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatehouse_event_disconnects_total",
			Help: "Streams of events that ended, by reason: left, slow, revoked, deleted, stopping, failed.",
		}, []string{"reason"}),
	}
	for _, r := range feed.Reasons {
		m.disconnects.WithLabelValues(string(r))
	}
	return m, register(reg, "event streams", m.subscribers, m.disconnects)
}

// Opened implements feed.Observer.
func (m *FeedMetrics) Opened() { m.subscribers.Inc() }

// Closed implements feed.Observer.
func (m *FeedMetrics) Closed(why feed.Reason) {
	m.subscribers.Dec()
	m.disconnects.WithLabelValues(string(why)).Inc()
}
