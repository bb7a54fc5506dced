package handlers

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are those of the edge (OP-8). No label comes from a caller: routes are
// templates, methods known ones, statuses classes.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatehouse_http_requests_total",
			Help: "HTTP requests answered, by route, method and status class.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "gatehouse_http_request_duration_seconds",
			Help:    "Time until an HTTP request was answered, by route and method.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "method"}),
	}
	return m, register(registry, "the edge", m.requests, m.seconds)
}

// register registers the metrics of something.
func register(reg prometheus.Registerer, of string, metrics ...prometheus.Collector) error {
	for _, m := range metrics {
		if err := reg.Register(m); err != nil {
			return fmt.Errorf("register metrics of %s: %w", of, err)
		}
	}
	return nil
}

func (m *metrics) observe(c echo.Context, took time.Duration) {
	r := requestOf(c.Request().Context())
	route, method := r.route(), knownMethod(c.Request().Method)
	class := strconv.Itoa(c.Response().Status/100) + "xx"
	m.requests.WithLabelValues(route, method, class).Inc()
	if !r.operation.streams() {
		m.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	}
}

// knownMethod returns method, or "OTHER" for one that callers made up.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "OTHER"
	}
}
