package handlers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/prompt"
	"gatehouse/handlers"
)

// OP-8: the names and labels that dashboards rely on.
func TestPromptMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := handlers.NewPromptMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	m.Admitted(prompt.KindDirect, "admitted")
	m.Admitted(prompt.KindDirect, "admitted")
	m.Delivered(prompt.OutcomeFailed)
	m.Recovered(prompt.RecoveryLeaseExpired)
	m.LeaseLost()
	m.Owed(prompt.Backlog{Unfinished: 3, OldestPending: 90 * time.Second})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, series := range f.GetMetric() {
			name := []string{f.GetName()}
			for _, label := range series.GetLabel() {
				name = append(name, label.GetName()+"="+label.GetValue())
			}
			got[strings.Join(name, " ")] = series.GetCounter().GetValue() + series.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"gatehouse_admissions_total outcome=admitted transport=direct": 2,
		"gatehouse_deliveries_total outcome=failed":                    1,
		"gatehouse_deliveries_total outcome=unknown":                   0,
		"gatehouse_recovery_total action=lease_expired":                1,
		"gatehouse_recovery_total action=outcome_unknown":              0,
		"gatehouse_delivery_lease_losses_total":                        1,
		"gatehouse_delivery_queue_depth":                               3,
		"gatehouse_delivery_oldest_pending_age_seconds":                90,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v, among %v", name, got[name], want, got)
		}
	}
	if _, err := handlers.NewPromptMetrics(registry); err == nil {
		t.Error("registered twice")
	}
}
