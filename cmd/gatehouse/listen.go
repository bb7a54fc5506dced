package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"gatehouse/cmd/gatehouse/internal/config"
)

// endpoint is an open listener and what answers on it.
type endpoint struct {
	net.Listener
	handler http.Handler
}

// timeouts bound what a client may keep a connection waiting for (OP-11). There is
// none for a whole answer: event streams have no end.
type timeouts struct {
	readHeader time.Duration
	idle       time.Duration
	shutdown   time.Duration
}

// listen opens the listener of the address that a setting has.
func listen(ctx context.Context, setting, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w: end what listens there, or give another address with --%s", err, setting)
	case err != nil:
		return nil, fmt.Errorf("--%s: %w", setting, err)
	}
	return l, nil
}

// serveHTTP answers on every endpoint until ctx ends. Then it calls onNotReady,
// which turns readiness off and ends streams, and lets running requests finish for
// t.shutdown; those that take longer are cut off, and that is no failure (OP-10).
// An endpoint that fails ends the others likewise and is returned.
func serveHTTP(ctx context.Context, log *slog.Logger, endpoints []endpoint, t timeouts, onNotReady func()) error {
	group, ctx := errgroup.WithContext(ctx)
	servers := make([]*http.Server, len(endpoints))
	for i, e := range endpoints {
		servers[i] = &http.Server{
			Handler:           e.handler,
			ReadHeaderTimeout: t.readHeader,
			IdleTimeout:       t.idle,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		}
		group.Go(func() error {
			if err := servers[i].Serve(e.Listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", e.Addr(), err)
			}
			return nil
		})
	}
	<-ctx.Done()
	onNotReady()
	shutdown(context.WithoutCancel(ctx), log, servers, t.shutdown)
	return group.Wait()
}

// shutdown ends servers together: gracefully for so long, then at once.
func shutdown(ctx context.Context, log *slog.Logger, servers []*http.Server, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var group errgroup.Group
	for _, s := range servers {
		group.Go(func() error {
			if err := s.Shutdown(ctx); err != nil {
				return errors.Join(err, s.Close())
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		log.LogAttrs(ctx, slog.LevelWarn, "requests cut off at shutdown", slog.String("after", patience.String()), slog.Any("error", err))
	}
}

// timeoutsOf are the time-outs of the settings.
func timeoutsOf(cfg config.Settings) timeouts {
	return timeouts{readHeader: cfg.ReadHeaderTimeout, idle: cfg.IdleTimeout, shutdown: cfg.ShutdownTimeout}
}
