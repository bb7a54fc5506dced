package handlers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// OP-9: a span tells the template of the path and the status, nothing a caller wrote.
func TestTracing(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	e := newEdge(t, func(o *Options) {
		o.Tracing = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	})
	e.call(t, "GET", "/v1/tasks/"+ownTask+"?secret=canary", "", "Authorization: ")
	ended := spans.Ended()
	if len(ended) != 1 || ended[0].Name() != "GET /v1/tasks/{task_id}" {
		t.Fatalf("spans are %v", ended)
	}
	got := map[attribute.Key]string{}
	for _, a := range ended[0].Attributes() {
		got[a.Key] = a.Value.String()
	}
	delete(got, "gatehouse.request_id")
	want := map[attribute.Key]string{
		"http.request.method": "GET", "http.route": "/v1/tasks/{task_id}", "http.response.status_code": "401",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
