package handlers

import (
	"context"
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// request is what the edge learns of a request on its way in. It travels in the
// context and is written by one step at a time.
type request struct {
	id        string
	http      *http.Request // as it arrived, for the handlers of others: metrics, the contract
	operation *operation    // nil while it is not known, and where there is none
	caller    access.Caller // zero before authentication and for public operations
	taskID    string        // the task that the path leads to; "" where it leads to none
}

type requestKey struct{}

// requestOf returns what is known of the request of ctx. Outside a request it is
// empty.
func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// callerOf returns who sent the request.
func callerOf(ctx context.Context) access.Caller { return requestOf(ctx).caller }

// taskOf returns the id of the task that the path of the request leads to, of
// which the caller is known to see the workspace (API-22).
func taskOf(ctx context.Context) string { return requestOf(ctx).taskID }

// route returns the template of the request's path. It bounds the labels of
// metrics: what no operation is behind is all one route.
func (r *request) route() string {
	if r.operation == nil {
		return "unmatched"
	}
	return r.operation.route
}

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// identify gives the request its id, the caller's where that is fit (API-4).
func identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !requestID.MatchString(id) {
			id = domain.NewID()
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		ctx := context.WithValue(c.Request().Context(), requestKey{}, &request{id: id, http: c.Request()})
		c.SetRequest(c.Request().WithContext(ctx))
		return next(c)
	}
}

// routeEscaped makes the router match the path as it was sent, so that values in
// it are decoded once, by whoever reads them (API-9).
func routeEscaped(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		u := c.Request().URL
		u.RawPath = u.EscapedPath()
		return next(c)
	}
}
