package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/feed"
	"gatehouse/domain/history"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
	"gatehouse/gen"
	"gatehouse/handlers"
)

// stack is the whole service but its listener, on a database of its own, and
// holds every answer against the contract.
type stack struct {
	http.Handler
	contract routers.Router
	store    *db.Store
	access   *access.Service
	plans    *plan.Service
	metrics  *prometheus.Registry
	sockets  *handlers.Sockets
	options  handlers.Options // that Handler was made of
	stopped  atomic.Bool      // makes the writer of contexts fail
	hub      *event.Hub
	waiting  chan struct{}           // receives when a reserve begins to wait
	token    map[access.Scope]string // of the workspace default
	foreign  map[access.Scope]string // of another one
}

// streamLimit is how many streams of events a token may have open in a stack.
const streamLimit = 8

// eachStack runs f on both databases.
func eachStack(t *testing.T, f func(t *testing.T, s *stack)) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) { f(t, newStack(t, open(t))) })
}

func newStack(t *testing.T, store *db.Store) *stack {
	t.Helper()
	hub := event.NewHub()
	s := buildStack(t, store, hub, hub)
	s.makeTokens(t)
	return s
}

// buildStack is a stack without tokens. What waits in it is woken by hub; what it
// changes is told to publisher.
func buildStack(t *testing.T, store *db.Store, hub *event.Hub, publisher event.Publisher) *stack {
	t.Helper()
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(handlers.WithRequestID(slog.NewTextHandler(t.Output(), nil)))
	announce, clock := event.NewAnnouncer(publisher, log), domain.Clock(domain.SystemClock)
	metrics := prometheus.NewRegistry()
	frames, err := handlers.NewContextMetrics(metrics)
	if err != nil {
		t.Fatal(err)
	}
	streams, err := handlers.NewFeedMetrics(metrics)
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := handlers.NewSockets(streamLimit, metrics)
	if err != nil {
		t.Fatal(err)
	}
	s := &stack{
		contract: router, store: store, metrics: metrics, sockets: sockets,
		access:  access.NewService(store.Access(), clock),
		plans:   plan.NewService(store.Plans(), clock, announce, nil),
		hub:     hub,
		waiting: make(chan struct{}, 100),
	}
	sessions := session.NewService(store.Sessions(), clock, announce)
	api := &handlers.API{
		Access:    s.access,
		Tasks:     task.NewService(store.Tasks(), clock, announce),
		Sessions:  sessions,
		Lifecycle: lifecycle.NewService(store.Lifecycle(), sessions, clock, announce),
		Plans:     s.plans,
		Prompts:   prompt.NewService(prompt.Config{Store: store.Prompts(), Now: clock, Announce: announce, Waker: waker{s}}),
		Readiness: store,
		Contract:  doc,
		Gatherer:  metrics,
		Version:   gen.Version{Version: "test", Commit: "unknown", Capabilities: []string{}},
		Bodies:    handlers.BodyLimits{JSON: 8 << 20, Ingest: 32 << 20, Raw: 10 << 20},
		History: history.NewService(store.History(), clock, announce, subagent.DefaultDelegationTools).
			RecordingTo(subagent.NewRecorder(stoppableContexts{store.Contexts(), &s.stopped}, clock, log, frames)),
		Executions: subagent.NewExecutions(store.Executions(), clock, announce),
		Contexts:   subagent.NewContexts(store.ContextReader()).ObservedBy(frames),
		Feed: feed.NewService(feed.Config{
			Store: store.Feed(), Waker: hub, Guard: s.access, Log: log, Encode: handlers.EncodeEvent,
			Observer: streams, Limit: streamLimit, Recheck: 100 * time.Millisecond,
		}),
		Sockets: sockets,
	}
	s.options = handlers.Options{
		Contract: doc, Rules: handlers.OperationRules, Register: api.Register, Log: log,
		Metrics: metrics, Authenticator: s.access, Locator: s.access, Bodies: api.Bodies, Sockets: sockets,
	}
	if s.Handler, err = handlers.New(s.options); err != nil {
		t.Fatal(err)
	}
	return s
}

// stoppableContexts merges into a store, until it is stopped.
type stoppableContexts struct {
	subagent.ContextStore

	stopped *atomic.Bool
}

// MergeContexts implements subagent.ContextStore.
func (c stoppableContexts) MergeContexts(ctx context.Context, contexts []subagent.Context) error {
	if c.stopped.Load() {
		return errors.New("stopped")
	}
	return c.ContextStore.MergeContexts(ctx, contexts)
}

// makeTokens makes a token of every scope in the default workspace and in another.
func (s *stack) makeTokens(t *testing.T) {
	t.Helper()
	if _, err := s.access.Bootstrap(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	other, err := s.access.CreateWorkspace(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	own := func(workspaceID string) map[access.Scope]string {
		tokens := make(map[access.Scope]string)
		for _, scope := range access.Scopes {
			_, secret, err := s.access.CreateToken(t.Context(), access.NewToken{WorkspaceID: workspaceID, Scope: scope})
			if err != nil {
				t.Fatal(err)
			}
			tokens[scope] = secret
		}
		return tokens
	}
	s.token, s.foreign = own(""), own(other.ID)
}

// call is a request in the making. The zero scope is that of an admin.
type call struct {
	s      *stack
	method string
	path   string
	body   string
	token  string
	header http.Header
}

// call makes a request with an admin's token. A body that is no string is sent as
// its JSON.
func (s *stack) call(method, path string, body ...any) *call {
	c := &call{s: s, method: method, path: path, token: s.token[access.ScopeAdmin], header: http.Header{}}
	for _, b := range body {
		if text, ok := b.(string); ok {
			c.body = text
			continue
		}
		text, err := json.Marshal(b)
		if err != nil {
			panic(err)
		}
		c.body = string(text)
	}
	return c
}

// as sends the request with a token of that scope, of the default workspace.
func (c *call) as(scope access.Scope) *call { return c.with(c.s.token[scope]) }

// with sends the request with a token, or without one for "".
func (c *call) with(token string) *call {
	c.token = token
	return c
}

// set adds a header.
func (c *call) set(name, value string) *call {
	c.header.Set(name, value)
	return c
}

// do sends the request and fails the test when the contract does not allow the answer.
func (c *call) do(t *testing.T) *answer {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r := httptest.NewRequestWithContext(ctx, c.method, c.path, strings.NewReader(c.body))
	r.Header = c.header
	if c.body != "" && r.Header["Content-Type"] == nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	w := httptest.NewRecorder()
	c.s.ServeHTTP(leaving{w, leave}, r)
	c.s.holdAgainstContract(t, r, w)
	return &answer{w, c}
}

// leaving is a client who leaves a stream of events as soon as it is ready.
type leaving struct {
	*httptest.ResponseRecorder

	leave context.CancelFunc
}

// Flush implements http.Flusher.
func (l leaving) Flush() {
	l.ResponseRecorder.Flush()
	if strings.Contains(l.Body.String(), "event: ready\n") {
		l.leave()
	}
}

func (s *stack) holdAgainstContract(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	route, params, err := s.contract.FindRoute(r)
	if err != nil {
		return // no operation: the edge's own answer
	}
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 w.Code,
		Header:                 w.Header(),
		Body:                   io.NopCloser(bytes.NewReader(w.Body.Bytes())),
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   !strings.Contains(w.Header().Get("Content-Type"), "json"),
		},
	})
	if err != nil {
		t.Errorf("%s %s breaks the contract: %v\n%s", r.Method, r.URL, err, w.Body)
	}
}

// answer is what came back.
type answer struct {
	*httptest.ResponseRecorder
	call *call
}

// want fails the test unless the answer has the status and holds every text.
func (a *answer) want(t *testing.T, status int, texts ...string) *answer {
	t.Helper()
	if a.Code != status {
		t.Fatalf("%s %s: %d %s\nwant %d", a.call.method, a.call.path, a.Code, a.Body, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.Body.String(), text) {
			t.Errorf("%s %s: %s\nlacks %s", a.call.method, a.call.path, a.Body, text)
		}
	}
	return a
}

// wantCode fails the test unless the answer is a problem of that code (API-4).
func (a *answer) wantCode(t *testing.T, status int, code string) *answer {
	t.Helper()
	a.want(t, status)
	if got := a.json(t)["code"]; got != code || a.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %s: code %v as %s, want %s", a.call.method, a.call.path, got, a.Header().Get("Content-Type"), code)
	}
	return a
}

// wantField fails the test unless validation found a problem of that code there (API-2).
func (a *answer) wantField(t *testing.T, field, code string) {
	t.Helper()
	a.wantCode(t, http.StatusUnprocessableEntity, "validation_failed")
	for _, e := range a.json(t)["errors"].([]any) {
		if e := e.(map[string]any); e["field"] == field && e["code"] == code {
			return
		}
	}
	t.Errorf("%s %s: %s\nlacks %s %s", a.call.method, a.call.path, a.Body, field, code)
}

// json is the answer's object, its numbers as they are written.
func (a *answer) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(a.Body.Bytes()))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s %s: %v in %s", a.call.method, a.call.path, err, a.Body)
	}
	return v
}

// id is the id of the answer's object.
func (a *answer) id(t *testing.T) string {
	t.Helper()
	return a.json(t)["id"].(string)
}

// task makes a task and returns its path.
func (s *stack) task(t *testing.T) string {
	t.Helper()
	return "/v1/tasks/" + s.call("POST", "/v1/tasks", map[string]any{"title": "t"}).as(access.ScopeUser).do(t).want(t, 201).id(t)
}

// session makes a main session of a task and returns its id.
func (s *stack) session(t *testing.T, taskPath string) string {
	t.Helper()
	return s.call("POST", taskPath+"/sessions", map[string]any{"kind": "main"}).do(t).want(t, 201).id(t)
}

// at is the value at a path of members and indexes in the answer's object, nil
// where there is none.
func (a *answer) at(t *testing.T, path ...any) any {
	t.Helper()
	var v any = a.json(t)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			members, _ := v.(map[string]any)
			v = members[step]
		case int:
			items, _ := v.([]any)
			if step >= len(items) {
				return nil
			}
			v = items[step]
		}
	}
	return v
}

// text is the string at a path, "" where there is none.
func (a *answer) text(t *testing.T, path ...any) string {
	t.Helper()
	s, _ := a.at(t, path...).(string)
	return s
}

// number is the integer at a path, 0 where there is none.
func (a *answer) number(t *testing.T, path ...any) int64 {
	t.Helper()
	n, _ := a.at(t, path...).(json.Number)
	i, _ := n.Int64()
	return i
}
