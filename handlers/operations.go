package handlers

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"

	"gatehouse/domain/access"
)

// Public is the scope of an operation that takes no token (API-11).
const Public access.Scope = "none"

// Rule says who may call an operation, what its path leads with, and which body
// it takes.
type Rule struct {
	Scope  access.Scope    // the least, or [Public]
	Of     access.Resource // what the id in the path stands for; "" where it leads to no task
	Ingest bool            // takes bodies up to the limit of ingestion (API-2)
	Stream bool            // answers for as long as the caller stays: how long that is, is no latency
}

// Rules is the table of all operations, by their id (API-25).
type Rules map[string]Rule

// operation is one operation of the contract.
type operation struct {
	id    string
	route string // template as the contract writes it
	rule  Rule
	query []parameter
	heads []parameter
	body  *body // nil where none is taken
}

func (o *operation) isPublic() bool { return o.rule.Scope == Public }

// streams reports whether an answer has no end of its own. That of no operation has one.
func (o *operation) streams() bool { return o != nil && o.rule.Stream }

// name returns the id, also of the operation that does not exist.
func (o *operation) name() string {
	if o == nil {
		return ""
	}
	return o.id
}

// operations finds an operation by method and Echo's template of the path.
type operations map[string]*operation

var pathParameter = regexp.MustCompile(`\{([^}]+)\}`)

func routeKey(method, template string) string {
	return method + " " + pathParameter.ReplaceAllString(template, ":$1")
}

// newOperations joins the contract with the rules. Every operation has a rule of
// the scope that the contract states, and every rule an operation: what nobody
// thought of is not served (API-25).
func newOperations(doc *openapi3.T, rules Rules, limits BodyLimits) (operations, error) {
	ops, seen := operations{}, map[string]bool{}
	for template, item := range doc.Paths.Map() {
		for method, spec := range item.Operations() {
			rule, ok := rules[spec.OperationID]
			if !ok {
				return nil, fmt.Errorf("operation %q of %s %s has no rule", spec.OperationID, method, template)
			}
			if err := rule.check(spec, template); err != nil {
				return nil, fmt.Errorf("operation %s: %w", spec.OperationID, err)
			}
			op, err := newOperation(spec, slices.Concat(item.Parameters, spec.Parameters), rule, limits)
			if err != nil {
				return nil, fmt.Errorf("operation %s: %w", spec.OperationID, err)
			}
			op.route = template
			ops[routeKey(method, template)] = op
			seen[op.id] = true
		}
	}
	for id := range rules {
		if !seen[id] {
			return nil, fmt.Errorf("rule for %s, which is no operation of the contract", id)
		}
	}
	return ops, nil
}

func (r Rule) check(spec *openapi3.Operation, template string) error {
	if r.Scope != Public && !slices.Contains(access.Scopes, r.Scope) {
		return fmt.Errorf("unknown scope %q", r.Scope)
	}
	if stated := spec.Extensions["x-gatehouse-scope"]; stated != string(r.Scope) {
		return fmt.Errorf("scope %s, but the contract states %v", r.Scope, stated)
	}
	if r.Of != resourceOf(template) {
		return fmt.Errorf("authorised through %q, but %s leads with %q", r.Of, template, resourceOf(template))
	}
	return nil
}

// checkRoutes makes sure that every route is an operation, and every operation
// has a route.
func (ops operations) checkRoutes(routes []*echo.Route) error {
	served := map[string]bool{}
	for _, r := range routes {
		key := routeKey(r.Method, r.Path)
		if ops[key] == nil {
			return fmt.Errorf("route %s is no operation of the contract", key)
		}
		served[key] = true
	}
	for key, op := range ops {
		if !served[key] {
			return fmt.Errorf("operation %s has no route", op.id)
		}
	}
	return nil
}

// find notes which operation is called. Where there is none, the router answers
// at once: 404, 405, or what OPTIONS allow.
func (ops operations) find(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := ops[c.Request().Method+" "+c.Path()]
		if op == nil {
			return c.Handler()(c)
		}
		requestOf(c.Request().Context()).operation = op
		return next(c)
	}
}
