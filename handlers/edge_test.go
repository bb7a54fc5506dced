package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

const contractUnderTest = `
openapi: 3.0.3
info: {title: Edge, version: "1"}
paths:
  /livez:
    get: {operationId: getLiveness, x-gatehouse-scope: none, responses: {"200": {description: ok}}}
  /v1/fail:
    get:
      operationId: fail
      x-gatehouse-scope: none
      responses: {"200": {description: ok}}
  /v1/tasks:
    post:
      operationId: createTask
      x-gatehouse-scope: user
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Everything'}}}}
      responses: {"200": {description: ok}}
    get:
      operationId: listTasks
      x-gatehouse-scope: user
      parameters:
        - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 200, default: 50}}
        - {name: archived, in: query, schema: {type: boolean}}
        - {name: state, in: query, schema: {type: string, enum: [queued, done]}}
        - {name: cursor, in: query, schema: {type: string}}
        - {name: plan_id, in: query, schema: {type: string, format: uuid}}
        - {name: If-None-Match, in: header, schema: {type: string, pattern: '^"[0-9]+"$'}}
      responses: {"200": {description: ok}}
  /v1/tasks/{task_id}:
    parameters: [{name: task_id, in: path, required: true, schema: {type: string}}]
    get: {operationId: getTask, x-gatehouse-scope: user, responses: {"200": {description: ok}}}
    patch:
      operationId: updateTask
      x-gatehouse-scope: user
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Everything'}}}}
      responses: {"200": {description: ok}}
    delete:
      operationId: deleteTask
      x-gatehouse-scope: user
      parameters: [{name: expected_version, in: query, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
  /v1/tasks/{task_id}/attachments:
    post:
      operationId: createAttachment
      x-gatehouse-scope: user
      parameters: [{name: task_id, in: path, required: true, schema: {type: string}}]
      requestBody: {required: true, content: {'*/*': {schema: {type: string, format: binary}}}}
      responses: {"200": {description: ok}}
  /v1/sessions/{session_id}/messages:
    post:
      operationId: appendMessages
      x-gatehouse-scope: runner
      parameters: [{name: session_id, in: path, required: true, schema: {type: string}}]
      requestBody: {required: true, content: {application/json: {schema: {}}}}
      responses: {"200": {description: ok}}
  /v1/file-changes/{change_id}:
    get:
      operationId: getFileChange
      x-gatehouse-scope: user
      parameters: [{name: change_id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
  /v1/admin/health:
    get: {operationId: getAdminHealth, x-gatehouse-scope: admin, responses: {"200": {description: ok}}}
components:
  schemas:
    State: {type: string, enum: [queued, done]}
    Everything:
      type: object
      additionalProperties: false
      properties:
        title: {type: string, minLength: 1, maxLength: 10}
        note: {type: string, nullable: true}
        id: {type: string, format: uuid}
        at: {type: string, format: date-time}
        code: {type: string, pattern: '^[a-z]{1,3}$'}
        state: {$ref: '#/components/schemas/State'}
        maybe: {nullable: true, allOf: [{$ref: '#/components/schemas/State'}]}
        count: {type: integer, format: int64}
        small: {type: integer, format: int32, minimum: -1, maximum: 9}
        ratio: {type: number}
        flag: {type: boolean}
        tags: {type: array, minItems: 1, maxItems: 2, items: {type: string}}
        any: {}
        labels: {type: object, additionalProperties: {type: string}}
        open: {type: object, additionalProperties: true, properties: {kind: {type: string}}}
        child: {type: object, additionalProperties: false, required: [name], properties: {name: {type: string}, child: {$ref: '#/components/schemas/Everything'}}}
`

var rulesUnderTest = Rules{
	"getLiveness":      {Scope: Public},
	"fail":             {Scope: Public},
	"createTask":       {Scope: access.ScopeUser},
	"listTasks":        {Scope: access.ScopeUser},
	"getTask":          {Scope: access.ScopeUser, Of: access.ResourceTask},
	"updateTask":       {Scope: access.ScopeUser, Of: access.ResourceTask},
	"deleteTask":       {Scope: access.ScopeUser, Of: access.ResourceTask},
	"createAttachment": {Scope: access.ScopeUser, Of: access.ResourceTask},
	"appendMessages":   {Scope: access.ScopeRunner, Of: access.ResourceSession, Ingest: true},
	"getFileChange":    {Scope: access.ScopeUser, Of: access.ResourceFileChange},
	"getAdminHealth":   {Scope: access.ScopeAdmin},
}

// What the fakes know.
const (
	ownTask     = "0190a000-0000-7000-8000-000000000001"
	foreignTask = "0190a000-0000-7000-8000-000000000002"
	noTask      = "0190a000-0000-7000-8000-000000000003"
)

type fakeTokens struct{}

func (fakeTokens) Authenticate(_ context.Context, secret string) (access.Caller, error) {
	switch scope := access.Scope(secret); {
	case secret == "broken":
		return access.Caller{}, domain.ErrUnavailable
	case slices.Contains(access.Scopes, scope):
		return access.Caller{TokenID: "id-of-" + secret, WorkspaceID: "own", Scope: scope}, nil
	default:
		return access.Caller{}, access.ErrUnauthenticated
	}
}

type fakePlaces struct{}

func (fakePlaces) Locate(_ context.Context, r access.Resource, id string) (access.Place, bool, error) {
	switch id {
	case ownTask:
		return access.Place{TaskID: "task-of-" + string(r), WorkspaceID: "own"}, true, nil
	case foreignTask:
		return access.Place{TaskID: "foreign", WorkspaceID: "foreign"}, true, nil
	default:
		return access.Place{}, false, nil
	}
}

// edge is the server under test, with all it passes requests through.
type edge struct {
	http.Handler
	log      *bytes.Buffer
	registry *prometheus.Registry
	fail     func(c echo.Context) error // what GET /v1/fail does
}

func newEdge(t *testing.T, change ...func(*Options)) *edge {
	t.Helper()
	e := &edge{log: new(bytes.Buffer), registry: prometheus.NewRegistry()}
	o := optionsUnderTest(t, e)
	for _, f := range change {
		f(&o)
	}
	var err error
	if e.Handler, err = New(o); err != nil {
		t.Fatal(err)
	}
	return e
}

func optionsUnderTest(t testing.TB, e *edge) Options {
	return Options{
		Contract:      loadContract(t),
		Rules:         rulesUnderTest,
		Register:      e.register,
		Log:           slog.New(WithRequestID(slog.NewJSONHandler(e.log, nil))),
		Metrics:       e.registry,
		Authenticator: fakeTokens{},
		Locator:       fakePlaces{},
		Bodies:        BodyLimits{JSON: 4 << 10, Ingest: 8 << 10, Raw: 1 << 10},
	}
}

func loadContract(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(contractUnderTest))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// register adds handlers that answer with the body they got, or else with whom
// and what the edge found.
func (e *edge) register(router *echo.Echo) {
	answer := func(c echo.Context) error {
		ctx := c.Request().Context()
		data, err := io.ReadAll(c.Request().Body)
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if len(data) == 0 {
			data = []byte(callerOf(ctx).TokenID + " " + taskOf(ctx))
		}
		return c.Blob(http.StatusOK, "text/plain", data)
	}
	for _, route := range []string{
		"GET /livez", "POST /v1/tasks", "GET /v1/tasks", "GET /v1/tasks/:task_id", "PATCH /v1/tasks/:task_id",
		"DELETE /v1/tasks/:task_id", "POST /v1/tasks/:task_id/attachments", "POST /v1/sessions/:session_id/messages",
		"GET /v1/file-changes/:change_id", "GET /v1/admin/health",
	} {
		method, path, _ := strings.Cut(route, " ")
		router.Add(method, path, answer)
	}
	router.GET("/v1/fail", func(c echo.Context) error { return e.fail(c) })
}

// call sends a request as a user, unless headers, "Name: value" each, say else.
func (e *edge) call(t *testing.T, method, target, body string, headers ...string) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer user")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return e.serve(t, r)
}

func (e *edge) serve(t *testing.T, r *http.Request) answer {
	t.Helper()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return answer{w}
}

type answer struct{ *httptest.ResponseRecorder }

// problem is what problem+json says.
type problem struct {
	Type, Title, Detail, Code string
	Status                    int
	RequestID                 string `json:"request_id"`
	Errors                    []struct{ Field, Code, Message string }
}

func (a answer) problem(t *testing.T) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil {
		t.Fatalf("no problem: %d %s", a.Code, a.Body)
	}
	if a.Header().Get("Content-Type") != "application/problem+json" || p.Status != a.Code || p.Type != "urn:gatehouse:problem:"+p.Code ||
		p.Title == "" || p.Detail == "" || p.RequestID != a.Header().Get("X-Request-Id") || p.RequestID == "" {
		t.Errorf("problem is not as API-4 has it: %v %s", a.Header(), a.Body)
	}
	return p
}

// expect checks the status, and the code of a problem where one is named.
func (a answer) expect(t *testing.T, status int, code string) {
	t.Helper()
	if a.Code != status {
		t.Errorf("status %d, want %d: %s", a.Code, status, a.Body)
		return
	}
	if code == "" {
		return
	}
	if p := a.problem(t); p.Code != code {
		t.Errorf("code %s, want %s", p.Code, code)
	}
}

var errPlain = errors.New("plain")
