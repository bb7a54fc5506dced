package handlers

import (
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain/access"
	"gatehouse/domain/feed"
	"gatehouse/domain/history"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
	"gatehouse/gen"
)

// API carries out the operations of openapi.yaml: each converts its request,
// calls the domain once, and converts the answer. The methods stand in one file
// per resource.
type API struct {
	Access     *access.Service
	Tasks      *task.Service
	Sessions   *session.Service
	Plans      *plan.Service
	Prompts    *prompt.Service
	Lifecycle  *lifecycle.Service
	History    *history.Service
	Executions *subagent.Executions
	Contexts   *subagent.Contexts
	Feed       *feed.Service
	Sockets    *Sockets

	Readiness Readiness
	Gatherer  prometheus.Gatherer // nil where /metrics is served elsewhere
	Version   gen.Version
	Limits    map[string]int64 // settings that are limits, beyond those of bodies
	Bodies    BodyLimits

	Contract *openapi3.T // as gen embeds it

	contract func() (contract, error)
}

var _ gen.StrictServerInterface = (*API)(nil)

// Register adds a route for each operation.
func (a *API) Register(e *echo.Echo) {
	a.contract = sync.OnceValues(func() (contract, error) { return newContract(a.Contract) })
	gen.RegisterHandlers(e, gen.NewStrictHandler(a, nil))
}
