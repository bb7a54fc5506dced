package handlers

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"gatehouse/domain"
)

// API-4: whatever goes wrong, wherever, is one problem with one status.
func TestProblems(t *testing.T) {
	const secret = "canary"
	for name, c := range map[string]struct {
		fail   func(echo.Context) error
		status int
		code   string
	}{
		"sentinel":         {returns(domain.ErrStorageFull), 507, "storage_full"},
		"wrapped sentinel": {returns(fmt.Errorf(secret+": %w", domain.ErrUnavailable)), 503, "unavailable"},
		"validation":       {returns(domain.Invalid("/body/title", domain.ProblemBlank, "must not be blank")), 422, "validation_failed"},
		"precondition":     {returns((&domain.Error{Kind: domain.KindConflict, Code: "plan_changed", Detail: "d"}).OfKind(domain.KindPrecondition)), 412, "plan_changed"},
		"unknown error":    {returns(fmt.Errorf("%s %w", secret, errPlain)), 500, "internal_error"},
		"unknown kind":     {returns(&domain.Error{Kind: "new", Code: "new", Detail: "d"}), 500, "new"},
		"router":           {returns(echo.NewHTTPError(http.StatusBadRequest, secret)), 400, "malformed_request"},
		"router's fault":   {returns(echo.NewHTTPError(http.StatusBadGateway, secret)), 500, "internal_error"},
		"time-out":         {returns(context.DeadlineExceeded), 503, "unavailable"},
		"stopped":          {returns(context.Canceled), 503, "unavailable"},
		"panic":            {func(echo.Context) error { panic(secret) }, 500, "internal_error"},
		"runtime panic":    {func(echo.Context) error { return []error{}[len(secret)] }, 500, "internal_error"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			e.fail = c.fail
			a := e.call(t, "GET", "/v1/fail", "", "X-Request-Id: given")
			a.expect(t, c.status, c.code)
			if strings.Contains(a.Body.String(), secret) {
				t.Errorf("the cause is in the answer: %s", a.Body)
			}
			if retry := a.Header().Get("Retry-After"); (retry != "") != (c.status == 503) {
				t.Errorf("Retry-After %q with %d", retry, c.status)
			}
			if lines := strings.Count(e.log.String(), "request failed"); (lines == 1) != (c.status >= 500) {
				t.Errorf("%d is logged %d times: %s", c.status, lines, e.log)
			}
			if !strings.Contains(e.log.String(), `"request_id":"given"`) {
				t.Errorf("no request id in the log: %s", e.log)
			}
			if strings.HasSuffix(name, "panic") && strings.Contains(e.log.String(), secret) {
				t.Errorf("what was thrown is in the log: %s", e.log)
			}
		})
	}
}

func returns(err error) func(echo.Context) error { return func(echo.Context) error { return err } }

// API-4: every kind of the domain has a status, read from its source.
func TestStatusOfIsExhaustive(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../domain/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Kind") {
			return true
		}
		kinds++
		kind := strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
		if statusOf[domain.Kind(kind)] == 0 {
			t.Errorf("%s has no status", spec.Names[0].Name)
		}
		return true
	})
	if kinds == 0 || kinds != len(statusOf) {
		t.Errorf("%d kinds, %d statuses", kinds, len(statusOf))
	}
}

// API-4: the router's own answers are problems, and 405 says what is allowed.
func TestRouterProblems(t *testing.T) {
	e := newEdge(t)
	e.call(t, "GET", "/nowhere", "").expect(t, 404, "not_found")
	e.call(t, "GET", "/v1/tasks/", "").expect(t, 404, "not_found")
	if detail := e.call(t, "GET", "/", "").problem(t).Detail; !strings.Contains(detail, "/docs/") {
		t.Errorf("it does not say where to look: %s", detail)
	}
	a := e.call(t, "PUT", "/v1/tasks", "{}")
	a.expect(t, 405, "method_not_allowed")
	if allow := a.Header().Get("Allow"); !strings.Contains(allow, "GET") || !strings.Contains(allow, "POST") {
		t.Errorf("Allow: %q", allow)
	}
	if a := e.call(t, "HEAD", "/nowhere", ""); a.Code != 404 || a.Body.Len() > 0 {
		t.Errorf("HEAD: %d %s", a.Code, a.Body)
	}
}

// A client that left gets no answer, and is no error of ours.
func TestClientGone(t *testing.T) {
	e := newEdge(t)
	ctx, leave := context.WithCancel(t.Context())
	e.fail = func(echo.Context) error { leave(); return fmt.Errorf("query: %w", ctx.Err()) }
	a := e.serve(t, httptest.NewRequestWithContext(ctx, "GET", "/v1/fail", http.NoBody))
	if a.Body.Len() > 0 || strings.Contains(e.log.String(), "request failed") || !strings.Contains(e.log.String(), `"status":499`) {
		t.Errorf("answer %q, log %s", a.Body, e.log)
	}
}

// An answer that broke off half-way must not look whole.
func TestPanicInAnswer(t *testing.T) {
	e := newEdge(t)
	e.fail = func(c echo.Context) error {
		_ = c.String(http.StatusOK, "half")
		panic("broken")
	}
	defer func() {
		if thrown, _ := recover().(error); !errors.Is(thrown, http.ErrAbortHandler) {
			t.Errorf("connection goes on: %v", thrown)
		}
		if !strings.Contains(e.log.String(), "request failed") || !strings.Contains(e.log.String(), `"msg":"request"`) {
			t.Errorf("not logged: %s", e.log)
		}
	}()
	e.call(t, "GET", "/v1/fail", "")
}

// API-4: the caller's request id is taken when it is fit.
func TestRequestID(t *testing.T) {
	e := newEdge(t)
	for given, kept := range map[string]bool{"a.B_c-1": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "a b": false, "é": false, "a\tb": false} {
		got := e.call(t, "GET", "/livez", "", "X-Request-Id: "+given).Header().Get("X-Request-Id")
		if _, fresh := domain.ParseID(got); (got == given) != kept || !kept && !fresh {
			t.Errorf("request id %q became %q", given, got)
		}
	}
}
