package main

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"gatehouse/db"
	"gatehouse/handlers"
)

// newRegistry holds the metrics of the process, the runtime and the store (OP-8).
func newRegistry(store *db.Store) (*prometheus.Registry, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	if err := store.Register(registry); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return registry, nil
}

// onlyMetrics answers on a listener of its own, and knows no other path (OP-8).
func onlyMetrics(registry *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", handlers.MetricsHandler(registry))
	return mux
}
