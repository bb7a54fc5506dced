package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"github.com/labstack/echo/v4"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// Authenticator tells whom a token belongs to.
type Authenticator interface {
	// Authenticate returns [access.ErrUnauthenticated] for a token that is not in force.
	Authenticate(ctx context.Context, secret string) (access.Caller, error)
}

// Locator tells where a resource belongs.
type Locator interface {
	// Locate reports whether there is one of that id, which is canonical.
	Locate(ctx context.Context, r access.Resource, id string) (access.Place, bool, error)
}

var bearer = regexp.MustCompile(`^(?i:bearer) ([A-Za-z0-9._~+/=-]{1,512})$`)

// authenticate finds out who calls and whether the scope reaches the operation
// (API-20, API-22). Without an authenticator everybody is an admin.
func authenticate(tokens Authenticator) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			ctx := c.Request().Context()
			r := requestOf(ctx)
			if r.operation.isPublic() {
				return next(c)
			}
			r.caller = access.Caller{Scope: access.ScopeAdmin}
			if tokens != nil {
				secret, err := bearerOf(c.Request().Header)
				if err != nil {
					return err
				}
				if r.caller, err = tokens.Authenticate(ctx, secret); err != nil {
					return fmt.Errorf("authenticate: %w", err)
				}
			}
			if !r.caller.Scope.Includes(r.operation.rule.Scope) {
				return access.ErrForbidden
			}
			return next(c)
		}
	}
}

func bearerOf(h http.Header) (string, error) {
	values := h.Values(echo.HeaderAuthorization)
	if len(values) != 1 {
		return "", access.ErrUnauthenticated
	}
	m := bearer.FindStringSubmatch(values[0])
	if m == nil {
		return "", access.ErrUnauthenticated
	}
	return m[1], nil
}

// locate finds the task that the path leads to. What is not there, what lies in
// a workspace that the caller does not see and what is no id at all are answered
// alike (API-2, API-22).
func locate(places Locator) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			ctx := c.Request().Context()
			r := requestOf(ctx)
			resource := r.operation.rule.Of
			if resource == "" {
				return next(c)
			}
			id, ok := pathID(c.Param(resources[resource].parameter))
			if !ok {
				return resources[resource].missing
			}
			place, found, err := places.Locate(ctx, resource, id)
			if err != nil {
				return fmt.Errorf("authorise: %w", err)
			}
			if !found || !r.caller.Sees(place.WorkspaceID) {
				return resources[resource].missing
			}
			r.taskID = place.TaskID
			return next(c)
		}
	}
}

// pathID returns the id in an escaped value of a path, in the form in which ids
// are stored, and whether there is one.
func pathID(escaped string) (id string, ok bool) {
	s, err := url.PathUnescape(escaped)
	if err != nil {
		return "", false
	}
	return domain.ParseID(s)
}

// idOf is the id in an escaped value of a path, in the form in which ids are stored.
// What is no id is that of nothing.
func idOf(escaped string) string {
	id, _ := pathID(escaped)
	return id
}
