package handlers

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/prompt"
)

// measuredHook is a hook whose answers are counted and timed (OP-8).
type measuredHook struct {
	prompt.Hook
	duration *prometheus.HistogramVec
}

// MeasureHook returns hook with its histogram registered with reg.
func MeasureHook(hook prompt.Hook, reg prometheus.Registerer) (prompt.Hook, error) {
	m := measuredHook{hook, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "gatehouse_turn_hook_duration_seconds",
		Help: "Time that turn-start hooks took, by outcome: accepted, replaced, or refused, which includes no answer.",
	}, []string{"outcome"})}
	return m, register(reg, "hooks", m.duration)
}

// BeforeTurn implements prompt.Hook.
func (m measuredHook) BeforeTurn(ctx context.Context, turn prompt.TurnStart) (*string, error) {
	began := time.Now()
	replacement, err := m.Hook.BeforeTurn(ctx, turn)
	outcome := "accepted"
	switch {
	case err != nil:
		outcome = "refused"
	case replacement != nil && *replacement != turn.SessionID:
		outcome = "replaced"
	}
	m.duration.WithLabelValues(outcome).Observe(time.Since(began).Seconds())
	return replacement, err
}
