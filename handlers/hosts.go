package handlers

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Origins says from where requests are taken (API-10).
type Origins struct {
	Loopback bool     // the listener is on a loopback address: Host must be a loopback name or listed
	Hosts    []string // further host names, without port
	Allowed  []string // origins of browsers, such as "https://desk.example", that CORS lets in; exact
}

// checkHost refuses, on a loopback listener, a Host header that names another
// machine: a page of the web that had its own name resolve to us sends one.
func (o Origins) checkHost(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if name := hostName(c.Request().Host); o.Loopback && !isLoopback(name) && !slices.ContainsFunc(o.Hosts, func(host string) bool {
			return strings.EqualFold(host, name)
		}) {
			return errHostRefused
		}
		return next(c)
	}
}

// refuseCrossOrigin refuses what a page of another origin had its browser send,
// for where authentication is off: the page would act as whoever sits there. An
// origin that CORS lets in is none of those.
func (o Origins) refuseCrossOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if r := c.Request(); !slices.Contains(o.Allowed, r.Header.Get(echo.HeaderOrigin)) && isCrossOrigin(r) {
			return errCrossOrigin
		}
		return next(c)
	}
}

func isCrossOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return true
	}
	origin := r.Header.Get(echo.HeaderOrigin)
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, r.Host)
}

func hostName(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}
