package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/cmd/gatehouse/internal/webhook"
	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/handlers"
)

// newHook is the turn-start hook of the settings and the lease that it is asked
// under, which is of no use without one. Both are nil when none is set.
func newHook(cfg config.Settings, lease plan.Lease, registry prometheus.Registerer) (prompt.Hook, plan.Lease, error) {
	if cfg.HookURL == "" {
		return nil, nil, nil
	}
	hook, err := webhook.New(webhook.Options{
		URL:     cfg.HookURL,
		Secret:  cfg.HookSecret,
		Timeout: cfg.HookTimeout,
		Clock:   domain.SystemClock,
	})
	if err != nil {
		return nil, nil, err
	}
	measured, err := handlers.MeasureHook(hook, registry)
	return measured, lease, err
}
