package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traced returns the step that makes a span of every request, as a child of the
// caller's where the request names one (OP-9). It holds templates, codes and ids,
// nothing a caller wrote. Without a provider there is no such step.
func traced(provider trace.TracerProvider) echo.MiddlewareFunc {
	if provider == nil {
		return func(next echo.HandlerFunc) echo.HandlerFunc { return next }
	}
	tracer, incoming := provider.Tracer("gatehouse/handlers"), propagation.TraceContext{}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			ctx := incoming.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
			ctx, span := tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
			defer span.End()
			c.SetRequest(r.WithContext(ctx))
			err := next(c)
			known, status := requestOf(ctx), c.Response().Status
			span.SetName(knownMethod(r.Method) + " " + known.route())
			span.SetAttributes(
				attribute.String("http.request.method", knownMethod(r.Method)),
				attribute.String("http.route", known.route()),
				attribute.Int("http.response.status_code", status),
				attribute.String("gatehouse.request_id", known.id),
			)
			if status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, http.StatusText(status))
			}
			return err
		}
	}
}
