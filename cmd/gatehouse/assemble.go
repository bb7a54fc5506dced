package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/cmd/gatehouse/internal/config"
	"gatehouse/db"
	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/feed"
	"gatehouse/domain/history"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
	"gatehouse/gen"
	"gatehouse/handlers"
)

// assemble puts the service together: the store, the domain on it, and the edge.
func assemble(ctx context.Context, env environment) (_ *app, err error) {
	log := slog.New(handlers.WithRequestID(env.log.Handler()))
	store, err := openStore(ctx, env.settings, log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	if err := makeReady(ctx, store, env.settings); err != nil {
		return nil, err
	}
	registry, err := newRegistry(store)
	if err != nil {
		return nil, err
	}
	news := newNews(store)
	defer func() {
		if err != nil {
			news.exchange.Close()
		}
	}()
	services, err := newServices(store, env.settings, registry, news, log)
	if err != nil {
		return nil, err
	}
	if err := firstStart(ctx, services.access, env); err != nil {
		return nil, err
	}
	loop := newRecovery(services.prompts, env.settings.RecoveryInterval, log)
	ready := &readiness{store: store, recovery: loop}
	sockets, err := handlers.NewSockets(env.settings.MaxStreams, registry)
	if err != nil {
		return nil, err
	}
	api, err := newEdge(services, sockets, env, log, registry, ready)
	if err != nil {
		return nil, err
	}
	loop.start(ctx)
	return &app{
		api:     api,
		metrics: onlyMetrics(registry),
		notReady: func() {
			ready.stopping.Store(true)
			news.hub.Close()
			sockets.Close()
		},
		close: func() error {
			sockets.Wait()
			loop.stop()
			news.exchange.Close()
			return store.Close()
		},
	}, nil
}

// services is the domain on one store.
type services struct {
	access     *access.Service
	tasks      *task.Service
	sessions   *session.Service
	lifecycle  *lifecycle.Service
	plans      *plan.Service
	prompts    *prompt.Service
	history    *history.Service
	executions *subagent.Executions
	contexts   *subagent.Contexts
	feed       *feed.Service
}

func newServices(store *db.Store, cfg config.Settings, registry prometheus.Registerer, news news, log *slog.Logger) (services, error) {
	announce := event.NewAnnouncer(news.exchange, log)
	observer, err := handlers.NewPromptMetrics(registry)
	if err != nil {
		return services{}, err
	}
	comments, err := handlers.NewPlanMetrics(registry)
	if err != nil {
		return services{}, err
	}
	frames, err := handlers.NewContextMetrics(registry)
	if err != nil {
		return services{}, err
	}
	hook, lease, err := newHook(cfg, store, registry)
	if err != nil {
		return services{}, err
	}
	guard := access.NewService(store.Access(), domain.SystemClock)
	streams, err := newFeed(store, cfg, registry, news, guard, log)
	if err != nil {
		return services{}, err
	}
	sessions := session.NewService(store.Sessions(), domain.SystemClock, announce)
	recorder := subagent.NewRecorder(store.Contexts(), domain.SystemClock, log, frames)
	return services{
		access:    guard,
		tasks:     task.NewService(store.Tasks(), domain.SystemClock, announce),
		sessions:  sessions,
		lifecycle: lifecycle.NewService(store.Lifecycle(), sessions, domain.SystemClock, announce),
		plans:     plan.NewService(store.Plans(), domain.SystemClock, announce, lease).ObservedBy(comments),
		prompts: prompt.NewService(prompt.Config{
			Store:    store.Prompts(),
			Now:      domain.SystemClock,
			Announce: announce,
			Observer: observer,
			Capacity: int64(cfg.QueueCapacity),
			Waker:    news.hub,
			Hook:     hook,
			Lease:    lease,

			AcknowledgeTimeout: cfg.AcknowledgeTimeout,
			AttachmentExpiry:   cfg.AttachmentExpiry,
		}),
		history:    history.NewService(store.History(), domain.SystemClock, announce, cfg.DelegationTools).RecordingTo(recorder),
		executions: subagent.NewExecutions(store.Executions(), domain.SystemClock, announce),
		contexts:   subagent.NewContexts(store.ContextReader()).ObservedBy(frames),
		feed:       streams,
	}, nil
}

// firstStart prints the token that the first start on an empty database makes
// (API-21), unless it was given one.
func firstStart(ctx context.Context, a *access.Service, env environment) error {
	secret, err := a.Bootstrap(ctx, env.settings.AdminToken)
	if err != nil {
		return err
	}
	if secret != "" && env.settings.AdminToken == "" {
		fmt.Fprintf(env.stderr, "first start: the admin token is %s\nit is not shown again\n", secret)
	}
	return nil
}

func newEdge(
	s services, sockets *handlers.Sockets, env environment, log *slog.Logger, registry *prometheus.Registry, ready *readiness,
) (http.Handler, error) {
	contract, err := gen.GetSpec()
	if err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	target, err := ready.store.TargetVersion()
	if err != nil {
		return nil, err
	}
	cfg := env.settings
	api := &handlers.API{
		Access:     s.access,
		Tasks:      s.tasks,
		Sessions:   s.sessions,
		Lifecycle:  s.lifecycle,
		Plans:      s.plans,
		Prompts:    s.prompts,
		Readiness:  ready,
		Gatherer:   registry,
		Contract:   contract,
		Version:    gen.Version{Version: version, Commit: commit(), SchemaVersion: target, Capabilities: []string{}},
		Limits:     limits(cfg),
		Bodies:     handlers.BodyLimits{JSON: int64(cfg.MaxBodyBytes), Ingest: int64(cfg.MaxIngestBodyBytes), Raw: domain.MaxAttachmentBytes},
		History:    s.history,
		Executions: s.executions,
		Contexts:   s.contexts,
		Feed:       s.feed,
		Sockets:    sockets,
	}
	if cfg.MetricsListen != "" {
		api.Gatherer = nil
	}
	options := handlers.Options{
		Contract: contract,
		Rules:    handlers.OperationRules,
		Register: api.Register,
		Log:      log,
		Metrics:  registry,
		AuthOff:  !cfg.AuthOn(),
		Locator:  s.access,
		Sockets:  sockets,
		Origins:  handlers.Origins{Loopback: cfg.Loopback(), Hosts: cfg.AllowedHosts, Allowed: cfg.CORSOrigins},
		Bodies:   api.Bodies,
		Rate:     handlers.RateLimit{PerSecond: cfg.RateLimit, Burst: max(1, int(cfg.RateLimit))},
	}
	if cfg.OTLPEndpoint != "" {
		options.Tracing = env.tracing
	}
	if cfg.AuthOn() {
		options.Authenticator = s.access
	}
	return handlers.New(options)
}

// limits are the settings that limit what callers do, by their names in /v1/limits.
func limits(cfg config.Settings) map[string]int64 {
	return map[string]int64{
		"queue_capacity":              int64(cfg.QueueCapacity),
		"max_streams":                 int64(cfg.MaxStreams),
		"attachment_expiry_seconds":   int64(cfg.AttachmentExpiry / time.Second),
		"acknowledge_timeout_seconds": int64(cfg.AcknowledgeTimeout / time.Second),
	}
}
