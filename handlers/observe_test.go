package handlers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// OP-9: one line per request, of ids, sizes and codes.
func TestRequestLine(t *testing.T) {
	e := newEdge(t)
	e.call(t, "PATCH", "/v1/tasks/"+ownTask+"?secret=1", `{"title":"secret"}`, "X-Request-Id: r1")
	var line map[string]any
	if err := json.Unmarshal(e.log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, e.log)
	}
	if _, ok := line["duration"].(float64); !ok || strings.Contains(e.log.String(), "secret") {
		t.Errorf("line: %s", e.log)
	}
	for _, varies := range []string{"time", "duration", "bytes"} {
		delete(line, varies)
	}
	want := map[string]any{
		"level": "INFO", "msg": "request", "method": "PATCH", "route": "/v1/tasks/{task_id}", "operation": "updateTask",
		"status": float64(422), "token_id": "id-of-user", "request_id": "r1",
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
}

// OP-8: requests are counted by template, method and class, and nothing a caller
// makes up becomes a label.
func TestMetrics(t *testing.T) {
	e := newEdge(t)
	e.call(t, "GET", "/v1/tasks/"+ownTask, "")
	e.call(t, "GET", "/v1/tasks/"+noTask, "")
	e.call(t, "GET", "/v1/tasks/"+foreignTask, "")
	e.call(t, "MADEUP", "/made/up", "")
	e.call(t, "GET", "/docs/", "")
	err := testutil.GatherAndCompare(e.registry, strings.NewReader(`
# HELP gatehouse_http_requests_total HTTP requests answered, by route, method and status class.
# TYPE gatehouse_http_requests_total counter
gatehouse_http_requests_total{method="GET",route="/docs/",status="2xx"} 1
gatehouse_http_requests_total{method="GET",route="/v1/tasks/{task_id}",status="2xx"} 1
gatehouse_http_requests_total{method="GET",route="/v1/tasks/{task_id}",status="4xx"} 2
gatehouse_http_requests_total{method="OTHER",route="unmatched",status="4xx"} 1
`), "gatehouse_http_requests_total")
	if err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(e.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}
