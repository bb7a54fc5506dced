package handlers

import (
	"io"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

// API-22: who is not known is 401, who may not is 403, before anything else of
// the request is looked at.
func TestAuthenticate(t *testing.T) {
	e := newEdge(t)
	for name, c := range map[string]struct {
		path, authorization string
		status              int
		code                string
	}{
		"no token":          {"/v1/tasks", "", 401, "unauthenticated"},
		"unknown token":     {"/v1/tasks", "Bearer nobody", 401, "unauthenticated"},
		"other scheme":      {"/v1/tasks", "Basic user", 401, "unauthenticated"},
		"no scheme":         {"/v1/tasks", "user", 401, "unauthenticated"},
		"two spaces":        {"/v1/tasks", "Bearer  user", 401, "unauthenticated"},
		"odd characters":    {"/v1/tasks", "Bearer us,er", 401, "unauthenticated"},
		"long":              {"/v1/tasks", "Bearer " + strings.Repeat("x", 513), 401, "unauthenticated"},
		"lower case":        {"/v1/tasks", "bearer user", 200, ""},
		"database away":     {"/v1/tasks", "Bearer broken", 503, "unavailable"},
		"scope too low":     {"/v1/admin/health", "Bearer runner", 403, "forbidden"},
		"scope enough":      {"/v1/admin/health", "Bearer admin", 200, ""},
		"greater scope":     {"/v1/tasks", "Bearer admin", 200, ""},
		"public":            {"/livez", "", 200, ""},
		"public, any token": {"/livez", "Bearer nobody", 200, ""},
		"docs":              {"/docs/", "", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := e.call(t, "GET", c.path, "", "Authorization: "+c.authorization)
			a.expect(t, c.status, c.code)
			if challenge := a.Header().Get("WWW-Authenticate"); (challenge == "Bearer") != (c.status == 401) {
				t.Errorf("WWW-Authenticate %q with %d", challenge, c.status)
			}
		})
	}
	if strings.Contains(e.log.String(), "nobody") {
		t.Error("a token is in the log")
	}

	r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/tasks", nil)
	r.Header["Authorization"] = []string{"Bearer user", "Bearer admin"}
	e.serve(t, r).expect(t, 401, "unauthenticated")
}

// API-2, API-25: a body is not read for a stranger, nor when it says that it is
// too large.
func TestBodyIsNotRead(t *testing.T) {
	e := newEdge(t)
	for token, status := range map[string]int{"nobody": 401, "user": 403} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/sessions/"+ownTask+"/messages", unread{t})
		r.Header.Set("Authorization", "Bearer "+token)
		e.serve(t, r).expect(t, status, "")
	}

	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/tasks", unread{t})
	r.ContentLength = 1 << 30
	r.Header = map[string][]string{"Authorization": {"Bearer user"}, "Content-Type": {"application/json"}}
	e.serve(t, r).expect(t, 413, "request_too_large")
}

type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// API-22, API-2: absent, foreign and malformed ids have one answer.
func TestLocate(t *testing.T) {
	e := newEdge(t)
	for path, code := range map[string]string{
		"/v1/tasks/":        "task_not_found",
		"/v1/file-changes/": "file_change_not_found",
	} {
		var first problem
		for i, id := range []string{noTask, foreignTask, "x", strings.ReplaceAll(ownTask, "-", ""), "%00", strings.Replace(ownTask, "0", "%2530", 1), ownTask + "%2F", "{" + ownTask + "}"} {
			a := e.call(t, "GET", path+id, "", "X-Request-Id: same")
			a.expect(t, 404, code)
			if p := a.problem(t); i == 0 {
				first = p
			} else if diff := cmp.Diff(first, p); diff != "" {
				t.Errorf("%s tells itself apart:\n%s", id, diff)
			}
		}
	}
	for token, want := range map[string]string{"user": "id-of-user task-of-task", "admin": "id-of-admin task-of-task"} {
		for _, id := range []string{ownTask, strings.ToUpper(ownTask), strings.Replace(ownTask, "0", "%30", 1)} {
			a := e.call(t, "GET", "/v1/tasks/"+id, "", "Authorization: Bearer "+token)
			if a.Code != 200 || a.Body.String() != want {
				t.Errorf("%s as %s: %d %s, want %s", id, token, a.Code, a.Body, want)
			}
		}
	}
	e.call(t, "GET", "/v1/tasks/"+foreignTask, "", "Authorization: Bearer admin").expect(t, 200, "")
}

// API-21: without authentication everybody is an admin.
func TestAuthOff(t *testing.T) {
	e := newEdge(t, authOff)
	e.call(t, "GET", "/v1/admin/health", "", "Authorization: ").expect(t, 200, "")
	e.call(t, "GET", "/v1/tasks/"+foreignTask, "", "Authorization: ").expect(t, 200, "")
}

func authOff(o *Options) { o.AuthOff, o.Authenticator = true, nil }

// API-25: what contract, rules and routes do not agree on is not served.
func TestDenyByDefault(t *testing.T) {
	without := func(id string, instead ...Rule) func(*Options) {
		return func(o *Options) {
			rules := maps.Clone(rulesUnderTest)
			delete(rules, id)
			if len(instead) > 0 {
				rules[id] = instead[0]
			}
			o.Rules = rules
		}
	}
	for name, change := range map[string]func(*Options){
		"no rule":           without("listTasks"),
		"other scope":       without("listTasks", Rule{Scope: "runner"}),
		"no scope":          without("listTasks", Rule{}),
		"rule of nothing":   without("nothing", Rule{Scope: "user"}),
		"id not in path":    without("listTasks", Rule{Scope: "user", Of: "task"}),
		"id not looked at":  without("getTask", Rule{Scope: "user"}),
		"other resource":    without("getTask", Rule{Scope: "user", Of: "session"}),
		"no route":          func(o *Options) { o.Register = func(*echo.Echo) {} },
		"no authenticator":  func(o *Options) { o.Authenticator = nil },
		"both":              func(o *Options) { o.AuthOff = true },
		"route of nothing":  func(o *Options) { o.Contract.Paths.Delete("/livez"); without("getLiveness")(o) },
		"keyword":           func(o *Options) { o.Contract.Components.Schemas["State"].Value.UniqueItems = true },
		"format":            func(o *Options) { o.Contract.Components.Schemas["State"].Value.Format = "iban" },
		"burst of nothing":  func(o *Options) { o.Rate = RateLimit{PerSecond: 1} },
		"open to anything":  func(o *Options) { o.Contract.Components.Schemas["Everything"].Value.AdditionalProperties.Has = nil },
		"metrics are there": func(o *Options) { _, _ = newMetrics(o.Metrics) },
	} {
		t.Run(name, func(t *testing.T) {
			e := &edge{registry: prometheus.NewRegistry()}
			o := optionsUnderTest(t, e)
			change(&o)
			if _, err := New(o); err == nil {
				t.Error("a server was built")
			}
		})
	}
}
