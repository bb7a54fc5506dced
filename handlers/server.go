package handlers

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// Options is what the edge is built of.
type Options struct {
	Contract *openapi3.T      // openapi.yaml
	Rules    Rules            // who may call what; one per operation
	Register func(*echo.Echo) // adds a route for each operation of the contract
	Log      *slog.Logger     // see [WithRequestID]
	Metrics  prometheus.Registerer
	Tracing  trace.TracerProvider // nil for none

	Authenticator Authenticator // nil only with AuthOff
	AuthOff       bool          // everybody is an admin (API-21)
	Locator       Locator

	Sockets *Sockets // that this server serves; nil for none
	Origins Origins
	Bodies  BodyLimits
	Rate    RateLimit
}

// New returns the server, with all that a request passes through, in order. It
// fails when an operation, its rule and its route do not all three exist and
// agree (API-25).
func New(o Options) (*echo.Echo, error) {
	if o.AuthOff != (o.Authenticator == nil) {
		return nil, errors.New("authentication is either off or has an authenticator")
	}
	ops, err := newOperations(o.Contract, o.Rules, o.Bodies)
	if err != nil {
		return nil, fmt.Errorf("join contract and rules: %w", err)
	}
	metrics, err := newMetrics(o.Metrics)
	if err != nil {
		return nil, err
	}
	limitRate, err := o.Rate.limiter()
	if err != nil {
		return nil, err
	}

	e := echo.New()
	e.HTTPErrorHandler = answerErrors(o.Log)
	e.JSONSerializer = serializer{}
	e.Pre(routeEscaped)
	e.Use(
		identify,                      // X-Request-Id
		traced(o.Tracing),             // the span of it
		observe(o.Log, metrics),       // errors become answers; the line and the numbers of it
		recoverPanics,                 // 500
		o.Origins.checkHost,           // 421
		o.Origins.cors,                // preflights end here
		o.sameOrigin,                  // 403
		ops.find,                      // 404, 405
		authenticate(o.Authenticator), // 401, 403; nothing of the body was read yet
		limitRate,                     // 429
		locate(o.Locator),             // 404
		validate,                      // 413, 415, 400, 422
	)
	o.Register(e)
	if err := ops.checkRoutes(e.Routes()); err != nil {
		return nil, fmt.Errorf("join contract and routes: %w", err)
	}
	serveDocs(e, ops, o.Contract.Info.Title)
	if o.Sockets == nil {
		return e, nil
	}
	return e, o.Sockets.serveBy(e, ops, o)
}

// sameOrigin is [Origins.refuseCrossOrigin] where authentication is off.
func (o Options) sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	if !o.AuthOff {
		return next
	}
	return o.Origins.refuseCrossOrigin(next)
}
