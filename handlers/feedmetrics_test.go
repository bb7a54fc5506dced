package handlers_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"gatehouse/domain/feed"
	"gatehouse/handlers"
)

// OP-8: the names and labels that dashboards rely on.
func TestFeedMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := handlers.NewFeedMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	m.Opened()
	m.Opened()
	m.Closed(feed.ReasonSlow)
	err = testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP gatehouse_event_disconnects_total Streams of events that ended, by reason: left, slow, revoked, deleted, stopping, failed.
# TYPE gatehouse_event_disconnects_total counter
gatehouse_event_disconnects_total{reason="deleted"} 0
gatehouse_event_disconnects_total{reason="failed"} 0
gatehouse_event_disconnects_total{reason="left"} 0
gatehouse_event_disconnects_total{reason="revoked"} 0
gatehouse_event_disconnects_total{reason="slow"} 1
gatehouse_event_disconnects_total{reason="stopping"} 0
# HELP gatehouse_event_subscribers Streams of events that are open, and subscriptions of WebSockets.
# TYPE gatehouse_event_subscribers gauge
gatehouse_event_subscribers 1
`))
	if err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	if _, err := handlers.NewFeedMetrics(registry); err == nil {
		t.Error("registered twice")
	}
}
