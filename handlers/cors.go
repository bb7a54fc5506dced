package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// What pages of an allowed origin may send and see.
var (
	corsMethods = strings.Join([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, ", ")
	corsHeaders = "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, X-Request-Id"
	corsExposed = "ETag, Location, X-Request-Id, Idempotent-Replayed, Retry-After"
)

// corsMaxAge is how many seconds a browser may remember a preflight.
const corsMaxAge = "600"

// cors lets the pages of allowed origins in (API-10). Nothing is said to others,
// and credentials of browsers are never asked for: tokens travel in a header.
func (o Origins) cors(next echo.HandlerFunc) echo.HandlerFunc {
	if len(o.Allowed) == 0 {
		return next
	}
	return func(c echo.Context) error {
		r, h := c.Request(), c.Response().Header()
		h.Add(echo.HeaderVary, echo.HeaderOrigin)
		origin := r.Header.Get(echo.HeaderOrigin)
		if !slices.Contains(o.Allowed, origin) {
			return next(c)
		}
		h.Set(echo.HeaderAccessControlAllowOrigin, origin)
		h.Set(echo.HeaderAccessControlExposeHeaders, corsExposed)
		if r.Method != http.MethodOptions || r.Header.Get(echo.HeaderAccessControlRequestMethod) == "" {
			return next(c)
		}
		h.Add(echo.HeaderVary, echo.HeaderAccessControlRequestMethod)
		h.Add(echo.HeaderVary, echo.HeaderAccessControlRequestHeaders)
		h.Set(echo.HeaderAccessControlAllowMethods, corsMethods)
		h.Set(echo.HeaderAccessControlAllowHeaders, corsHeaders)
		h.Set(echo.HeaderAccessControlMaxAge, corsMaxAge)
		return c.NoContent(http.StatusNoContent)
	}
}
