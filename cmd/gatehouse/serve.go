package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"

	"gatehouse/cmd/gatehouse/internal/config"
)

// app is a service that was put together: what answers, and how it ends.
type app struct {
	api      http.Handler
	metrics  http.Handler // what answers on --metrics-listen
	notReady func()       // turns readiness off and ends every stream; does not wait
	close    func() error // ends what runs in the background and closes the store; called last
}

// environment is what a service is put together from.
type environment struct {
	settings config.Settings
	log      *slog.Logger
	tracing  trace.TracerProvider
	stderr   io.Writer // for the operator: the first admin token
}

// assembler puts a service together: it opens and migrates the store and starts what
// runs in the background. On an error it leaves nothing open.
type assembler func(ctx context.Context, env environment) (*app, error)

// serveCommand runs the server.
func (p *program) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := p.settings(cmd)
			if err != nil {
				return err
			}
			return p.serve(cmd.Context(), cfg, log)
		},
	}
}

// serve holds the lock of a SQLite file and the tracing for as long as it runs.
func (p *program) serve(ctx context.Context, cfg config.Settings, log *slog.Logger) (err error) {
	if file, ok := cfg.SQLiteFile(); ok {
		unlock, err := lockDatabase(file)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	tracing, flush, err := newTracing(ctx, cfg.OTLPEndpoint, log)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.ShutdownTimeout)
		defer cancel()
		if err := flush(ctx); err != nil { // never a failure of the service
			log.LogAttrs(ctx, slog.LevelWarn, "traces not sent", slog.Any("error", err))
		}
	}()
	return p.listenAndServe(ctx, environment{settings: cfg, log: log, tracing: tracing, stderr: p.stderr})
}

// listenAndServe opens the listeners before anything is touched, answers as one that
// starts while the service is put together, and says when it is ready.
func (p *program) listenAndServe(ctx context.Context, env environment) error {
	var now stage
	endpoints, err := openEndpoints(ctx, env.settings, &now)
	if err != nil {
		return err
	}
	serving, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- serveHTTP(serving, env.log, endpoints, timeoutsOf(env.settings), now.end) }()

	a, err := p.assemble(ctx, env)
	if err != nil {
		cancel()
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // told to end while starting: as it was asked
		}
		return errors.Join(err, <-served)
	}
	now.begin(a)
	fmt.Fprintf(p.stderr, "Swagger UI is at http://%s/docs/\n", endpoints[0].Addr())
	fmt.Fprintf(p.stderr, "listening on http://%s\n", endpoints[0].Addr()) // scripts wait for it (OP-2)
	return errors.Join(<-served, a.close())
}

// openEndpoints opens the listener of the API, and that of /metrics if it has one.
func openEndpoints(ctx context.Context, cfg config.Settings, now *stage) ([]endpoint, error) {
	l, err := listen(ctx, "listen", cfg.Listen)
	if err != nil {
		return nil, err
	}
	endpoints := []endpoint{{l, now.handler(func(a *app) http.Handler { return a.api })}}
	if cfg.MetricsListen != "" {
		m, err := listen(ctx, "metrics-listen", cfg.MetricsListen)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		endpoints = append(endpoints, endpoint{m, now.handler(func(a *app) http.Handler { return a.metrics })})
	}
	return endpoints, nil
}
