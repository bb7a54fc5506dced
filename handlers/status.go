package handlers

import (
	"context"
	"fmt"
	"net/http"

	"gatehouse/gen"
)

var alive = gen.Health{Status: gen.HealthStatusOk}

// GetLiveness implements GET /livez. It touches nothing (OP-14).
func (a *API) GetLiveness(context.Context, gen.GetLivenessRequestObject) (gen.GetLivenessResponseObject, error) {
	return gen.GetLiveness200JSONResponse(alive), nil
}

// GetHealth implements GET /healthz, an alias of /livez.
func (a *API) GetHealth(context.Context, gen.GetHealthRequestObject) (gen.GetHealthResponseObject, error) {
	return gen.GetHealth200JSONResponse(alive), nil
}

// GetReadiness implements GET /readyz.
func (a *API) GetReadiness(ctx context.Context, _ gen.GetReadinessRequestObject) (gen.GetReadinessResponseObject, error) {
	if err := a.Readiness.Ready(ctx); err != nil {
		return nil, fmt.Errorf("not ready: %w", err)
	}
	return gen.GetReadiness200JSONResponse(alive), nil
}

// GetVersion implements GET /v1/version.
func (a *API) GetVersion(context.Context, gen.GetVersionRequestObject) (gen.GetVersionResponseObject, error) {
	return gen.GetVersion200JSONResponse(a.Version), nil
}

// GetLimits implements GET /v1/limits.
func (a *API) GetLimits(context.Context, gen.GetLimitsRequestObject) (gen.GetLimitsResponseObject, error) {
	return gen.GetLimits200JSONResponse(limitsInForce(a.Bodies, a.Limits)), nil
}

// GetMetrics implements GET /metrics.
func (a *API) GetMetrics(ctx context.Context, _ gen.GetMetricsRequestObject) (gen.GetMetricsResponseObject, error) {
	if a.Gatherer == nil {
		return nil, errNotFound // they have a listener of their own
	}
	return served{MetricsHandler(a.Gatherer), requestOf(ctx).http}, nil
}

// GetContractJSON implements GET /openapi.json.
func (a *API) GetContractJSON(ctx context.Context, _ gen.GetContractJSONRequestObject) (gen.GetContractJSONResponseObject, error) {
	doc, err := a.contract()
	return served{http.HandlerFunc(doc.serveJSON), requestOf(ctx).http}, err
}

// GetContractYaml implements GET /openapi.yaml.
func (a *API) GetContractYaml(ctx context.Context, _ gen.GetContractYamlRequestObject) (gen.GetContractYamlResponseObject, error) {
	doc, err := a.contract()
	return served{http.HandlerFunc(doc.serveYAML), requestOf(ctx).http}, err
}

// served is an answer that a handler of its own writes.
type served struct {
	handler http.Handler
	request *http.Request
}

func (s served) write(w http.ResponseWriter) error {
	s.handler.ServeHTTP(w, s.request)
	return nil
}

// VisitGetMetricsResponse implements gen.GetMetricsResponseObject.
func (s served) VisitGetMetricsResponse(w http.ResponseWriter) error { return s.write(w) }

// VisitGetContractJSONResponse implements gen.GetContractJSONResponseObject.
func (s served) VisitGetContractJSONResponse(w http.ResponseWriter) error { return s.write(w) }

// VisitGetContractYamlResponse implements gen.GetContractYamlResponseObject.
func (s served) VisitGetContractYamlResponse(w http.ResponseWriter) error { return s.write(w) }
