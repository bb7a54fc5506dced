package db

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// How the listener keeps its connection: how long it waits before it asks whether
// there still is one, for an answer, and, growing, between two tries to get another.
const (
	listenQuiet   = 30 * time.Second
	listenTimeout = 10 * time.Second
	listenFirst   = 100 * time.Millisecond
	listenMost    = 5 * time.Second
)

// listenerName is added to the name of the program, so that an operator can tell its
// connection from those of the pool.
const listenerName = " listener"

// listen hears the other processes until ctx ends, on a connection of its own: one of
// the pool would be missing there. A lost connection is made again. What was told
// meanwhile is lost, so everybody looks once.
func (e *postgresExchange) listen(ctx context.Context) {
	wait := listenFirst
	for {
		heard, err := e.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if heard {
			wait = listenFirst
		}
		e.log.LogAttrs(ctx, slog.LevelWarn, "connection for changes of other processes lost", slog.Any("error", postgres{}.classify(err)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait/2 + rand.N(wait/2)):
		}
		wait = min(2*wait, listenMost)
	}
}

// listenOnce connects and hears until the connection is lost, which is its error. It
// reports whether there was one.
func (e *postgresExchange) listenOnce(ctx context.Context) (heard bool, err error) {
	c, err := e.subscribe(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(end) // it may be lost already
	}()
	e.hub.WakeAll()
	for {
		if err := e.next(ctx, c); err != nil {
			return true, err
		}
	}
}

// subscribe connects and listens.
func (e *postgresExchange) subscribe(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, listenTimeout)
	defer cancel()
	config := e.config.Copy()
	config.RuntimeParams["application_name"] += listenerName
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := c.Exec(ctx, "LISTEN "+channel); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	return c, nil
}

// next hears one notification. When there is none for long, it asks whether the server
// is still there: a connection can be lost without a word.
func (e *postgresExchange) next(ctx context.Context, c *pgx.Conn) error {
	quiet, cancel := context.WithTimeout(ctx, listenQuiet)
	defer cancel()
	n, err := c.WaitForNotification(quiet)
	switch {
	case err == nil:
		e.hear(n.Payload)
		return nil
	case ctx.Err() == nil && quiet.Err() != nil:
		ping, cancel := context.WithTimeout(ctx, listenTimeout)
		defer cancel()
		return c.Ping(ping)
	default:
		return err
	}
}
