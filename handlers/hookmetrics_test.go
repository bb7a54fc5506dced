package handlers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/prompt"
	"gatehouse/handlers"
)

// hookAnswers is a hook that gives them one after another.
type hookAnswers []hookAnswer

type hookAnswer struct {
	replacement *string
	err         error
}

// BeforeTurn implements prompt.Hook.
func (a *hookAnswers) BeforeTurn(context.Context, prompt.TurnStart) (*string, error) {
	first := (*a)[0]
	*a = (*a)[1:]
	return first.replacement, first.err
}

// OP-8: what hooks say is counted, and passed on as it is.
func TestHookMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	want := hookAnswers{{}, {replacement: new("the same")}, {replacement: new("another")}, {err: errors.New("no")}}
	given := append(hookAnswers(nil), want...)
	hook, err := handlers.MeasureHook(&given, registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range want {
		replacement, err := hook.BeforeTurn(t.Context(), prompt.TurnStart{SessionID: "the same"})
		if replacement != a.replacement || !errors.Is(err, a.err) {
			t.Errorf("passed on %v, %v instead of %+v", replacement, err, a)
		}
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "gatehouse_turn_hook_duration_seconds" {
		t.Fatalf("gathered %v, %v", families, err)
	}
	got := map[string]uint64{}
	for _, series := range families[0].GetMetric() {
		got[series.GetLabel()[0].GetValue()] = series.GetHistogram().GetSampleCount()
	}
	if diff := cmp.Diff(map[string]uint64{"accepted": 2, "replaced": 1, "refused": 1}, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if _, err := handlers.MeasureHook(&given, registry); err == nil {
		t.Error("registered twice")
	}
}
