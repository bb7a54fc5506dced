package handlers

import (
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/domain"
)

// API-11: the limits are those in force, settings included.
func TestLimitsInForce(t *testing.T) {
	limits := limitsInForce(BodyLimits{JSON: 1, Ingest: 2, Raw: 3}, map[string]int64{"queue_capacity": 7})
	for name, want := range map[string]int64{
		"request_body_bytes": 1, "ingestion_body_bytes": 2, "attachment_bytes": 3, "queue_capacity": 7,
		"plan_content_bytes": domain.MaxPlanContent,
	} {
		if limits[name] != want {
			t.Errorf("%s is %d, want %d", name, limits[name], want)
		}
	}
}

// OP-8: the metrics are read in Prometheus' own form.
func TestMetricsHandler(t *testing.T) {
	e := newEdge(t)
	e.call(t, "GET", "/livez", "")
	w := httptest.NewRecorder()
	MetricsHandler(e.registry).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	if w.Code != 200 || !strings.Contains(w.Body.String(), `gatehouse_http_request_duration_seconds_count{method="GET",route="/livez"} 1`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
