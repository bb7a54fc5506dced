package handlers

import (
	"context"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"
)

// WithRequestID returns a handler that puts the id of the request on every line
// that is logged with its context (OP-9).
func WithRequestID(h slog.Handler) slog.Handler { return identified{h} }

type identified struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h identified) Handle(ctx context.Context, line slog.Record) error {
	if id := requestOf(ctx).id; id != "" {
		line.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, line)
}

// WithAttrs implements [slog.Handler].
func (h identified) WithAttrs(attrs []slog.Attr) slog.Handler {
	return identified{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h identified) WithGroup(name string) slog.Handler {
	return identified{h.Handler.WithGroup(name)}
}

// observe has the errors of a request answered, then counts and logs it, also
// one whose answer broke off.
func observe(log *slog.Logger, m *metrics) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := time.Now()
			defer func() {
				took := time.Since(start)
				m.observe(c, took)
				logRequest(log, c, took)
			}()
			if err := next(c); err != nil {
				c.Error(err)
			}
			return nil
		}
	}
}

// logRequest writes the one line of a request: ids, sizes and codes, never a
// path, a query or a body (OP-9).
func logRequest(log *slog.Logger, c echo.Context, took time.Duration) {
	ctx, w := c.Request().Context(), c.Response()
	r := requestOf(ctx)
	log.LogAttrs(
		ctx, slog.LevelInfo, "request",
		slog.String("method", knownMethod(c.Request().Method)),
		slog.String("route", r.route()),
		slog.String("operation", r.operation.name()),
		slog.Int("status", w.Status),
		slog.Int64("bytes", w.Size),
		slog.Duration("duration", took),
		slog.String("token_id", r.caller.TokenID),
	)
}
