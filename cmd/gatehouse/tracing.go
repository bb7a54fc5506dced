package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// newTracing returns where spans go: to endpoint by OTLP over HTTP, in batches that
// are dropped rather than waited for, or nowhere when endpoint is empty (OP-9).
// flush sends what is left, within the time of its context.
func newTracing(ctx context.Context, endpoint string, log *slog.Logger) (provider trace.TracerProvider, flush func(context.Context) error, err error) {
	if endpoint == "" {
		return noop.NewTracerProvider(), func(context.Context) error { return nil }, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(tracesURL(endpoint)))
	if err != nil {
		return nil, nil, fmt.Errorf("traces: %w", err)
	}
	// The one global of the library that cannot be passed in: without it, failures
	// to export would be written to standard error past the log.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, "traces not sent", slog.Any("error", err))
	}))
	sdk := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "gatehouse"),
			attribute.String("service.version", version),
		)),
	)
	return sdk, sdk.Shutdown, nil
}

// tracesURL is where a collector takes traces: below its base URL, unless a path
// was given.
func tracesURL(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || strings.Trim(u.Path, "/") != "" {
		return endpoint
	}
	return u.JoinPath("v1", "traces").String()
}
