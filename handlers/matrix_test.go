package handlers_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	gocmp "github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/gen"
	"gatehouse/handlers"
)

// QU-25, API-22, API-25: every operation of openapi.yaml against every caller that it
// is not for. Who is not known gets 401 and who may not gets 403, whatever is asked
// for; and what belongs to another workspace is answered byte for byte as what does
// not exist.
func TestAuthorisationMatrix(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		m := newMatrix(t, open(t))
		for template, item := range m.doc.Paths.Map() {
			for method, operation := range item.Operations() {
				t.Run(operation.OperationID, func(t *testing.T) { m.try(t, method, template, operation) })
			}
		}
	})
}

// matrix is a stack with a world of resources in two workspaces.
type matrix struct {
	*stack
	doc       *openapi3.T
	strangers map[string]string // tokens that are in force nowhere, by why
	own       map[string]string // ids in the callers' workspace, by the name of their parameter
	foreign   map[string]string // in the other one
	nowhere   map[string]string // ids of nothing
}

func newMatrix(t *testing.T, store *db.Store) *matrix {
	t.Helper()
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	s := newStack(t, store)
	m := &matrix{stack: s, doc: doc, own: s.world(t, s.token), foreign: s.world(t, s.foreign), nowhere: map[string]string{}}
	for name, id := range m.own {
		m.nowhere[name] = id
		if _, ok := domain.ParseID(id); ok {
			m.nowhere[name] = domain.NewID()
		}
	}
	m.nowhere["client_id"] = "nobody"
	m.strangers = map[string]string{
		"no token": "", "bad": "gh_" + strings.Repeat("x", 43),
		"expired": expiredToken(t, store), "revoked": s.revokedToken(t),
	}
	return m
}

// expiredToken is that of an admin, made by a service that lives in the past.
func expiredToken(t *testing.T, store *db.Store) string {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	service := access.NewService(store.Access(), func() time.Time { return past })
	_, secret, err := service.CreateToken(t.Context(), access.NewToken{Scope: access.ScopeAdmin, ExpiresAt: new(past.Add(time.Minute))})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func (s *stack) revokedToken(t *testing.T) string {
	t.Helper()
	made := s.call("POST", "/v1/tokens", `{"scope":"admin"}`).do(t).want(t, 201)
	s.call("GET", "/v1/tokens").with(made.text(t, "token")).do(t).want(t, 200) // it was in force, and may be cached
	s.call("DELETE", "/v1/tokens/"+made.id(t)).do(t).want(t, 204)
	return made.text(t, "token")
}

// world makes one resource of every kind with the tokens of a workspace, and returns
// their ids by the names of the parameters of paths.
func (s *stack) world(t *testing.T, tokens map[access.Scope]string) map[string]string {
	t.Helper()
	do := func(status int, method, path string, body any) *answer {
		t.Helper()
		return s.call(method, path, body).with(tokens[access.ScopeRunner]).do(t).want(t, status)
	}
	ids := map[string]string{"version": "1", "client_id": "m1", "token_id": s.call("POST", "/v1/tokens", `{"scope":"user"}`).do(t).want(t, 201).id(t)}
	ids["task_id"] = do(201, "POST", "/v1/tasks", `{"title":"t"}`).id(t)
	task := "/v1/tasks/" + ids["task_id"]
	ids["session_id"] = do(201, "POST", task+"/sessions", `{"kind":"main"}`).id(t)
	session := "/v1/sessions/" + ids["session_id"]
	child := do(201, "POST", task+"/sessions", map[string]any{"kind": "subagent", "parent_session_id": ids["session_id"]}).id(t)
	planID := do(200, "PUT", task+"/plan", `{"content":"p"}`).id(t)
	ids["comment_id"] = domain.NewID()
	do(201, "POST", task+"/plan/comments", map[string]any{
		"id": ids["comment_id"], "plan_id": planID, "body": "b", "selected_text": "s", "anchor_from": 0, "anchor_to": 1,
	})
	ids["delivery_id"] = do(201, "POST", task+"/sessions/"+ids["session_id"]+"/prompts", `{"client_message_id":"m1","content":"x"}`).text(t, "delivery", "id")
	ids["attachment_id"] = do(201, "POST", task+"/attachments?name=a.txt", "x").id(t)
	ids["entry_id"] = do(201, "POST", task+"/sessions/"+ids["session_id"]+"/queue", `{"client_queue_id":"q1","content":"x"}`).text(t, "delivery", "id")
	ids["turn_id"] = do(201, "POST", session+"/turns", "{}").id(t)
	ids["subagent_execution_id"] = do(201, "POST", session+"/subagent-executions", map[string]any{
		"parent_tool_call_id": "c", "child_session_id": child, "tool": "delegate",
	}).id(t)
	ids["message_id"] = do(200, "POST", session+"/messages",
		`{"messages":[{"role":"assistant","content":"x","file_changes":[{"path":"p","change_type":"CREATED","before_content":"","after_content":"a"}]}]}`).
		text(t, "results", 0, "id")
	ids["change_id"] = do(200, "GET", session+"/messages", "").text(t, "messages", 1, "file_changes", 0, "id")
	return ids
}

// try sends one operation as every caller.
func (m *matrix) try(t *testing.T, method, template string, operation *openapi3.Operation) {
	rule := handlers.OperationRules[operation.OperationID]
	ask := func(token string, ids map[string]string) *seen {
		return m.ask(t, token, method, template, ids, operation)
	}
	if rule.Scope == handlers.Public {
		want := http.StatusOK
		if operation.OperationID == "openSocket" { // which is asked for no WebSocket
			want = http.StatusBadRequest
		}
		for why, token := range m.strangers {
			if got := ask(token, m.own); got.status != want {
				t.Errorf("public, %s: %d", why, got.status)
			}
		}
		return
	}
	unknown := ask("", m.nowhere)
	for why, token := range m.strangers {
		for _, ids := range []map[string]string{m.own, m.nowhere} {
			ask(token, ids).want(t, why, http.StatusUnauthorized, unknown)
		}
	}
	for _, scope := range access.Scopes {
		if !scope.Includes(rule.Scope) {
			m.tryTooLow(t, scope, ask)
			continue
		}
		if method == http.MethodGet {
			if got := ask(m.token[scope], m.own); slices.Contains([]int{401, 403, 404}, got.status) {
				t.Errorf("%s in the own workspace: %d %s", scope, got.status, got.body)
			}
		}
		if scope != access.ScopeAdmin { // who is in every workspace
			m.tryForeign(t, scope, rule, template, ask)
		}
	}
}

func (m *matrix) tryTooLow(t *testing.T, scope access.Scope, ask func(string, map[string]string) *seen) {
	t.Helper()
	low := ask(m.token[scope], m.nowhere)
	for _, ids := range []map[string]string{m.own, m.foreign, m.nowhere} {
		ask(m.token[scope], ids).want(t, string(scope)+" is too low", http.StatusForbidden, low)
	}
}

// tryForeign puts the id of another workspace into each place of the path in turn,
// behind ids of the own one: the answer is that for an id of nothing.
func (m *matrix) tryForeign(t *testing.T, scope access.Scope, rule handlers.Rule, template string, ask func(string, map[string]string) *seen) {
	t.Helper()
	names := placeholders.FindAllStringSubmatch(template, -1)
	for i, name := range names {
		foreign, nothing := maps.Clone(m.own), maps.Clone(m.own)
		foreign[name[1]], nothing[name[1]] = m.foreign[name[1]], m.nowhere[name[1]]
		if foreign[name[1]] == m.own[name[1]] {
			continue // numbers, and ids that callers choose, mean something within a task only
		}
		want := ask(m.token[scope], nothing)
		if i == 0 && rule.Of != "" && want.status != http.StatusNotFound {
			t.Errorf("%s: nothing is %d %s", name[1], want.status, want.body)
		}
		ask(m.token[scope], foreign).want(t, name[1]+" of another workspace", want.status, want)
	}
}

// seen is all that a caller sees of an answer.
type seen struct {
	status int
	header http.Header
	body   string
}

func (s *seen) want(t *testing.T, why string, status int, like *seen) {
	t.Helper()
	if diff := gocmp.Diff(like, s, gocmp.AllowUnexported(seen{})); diff != "" || s.status != status {
		t.Errorf("%s: %d, want %d; tells itself apart by (-nothing +this)\n%s", why, s.status, status, diff)
	}
}

var placeholders = regexp.MustCompile(`\{([^}]+)\}`)

func (m *matrix) ask(t *testing.T, token, method, template string, ids map[string]string, operation *openapi3.Operation) *seen {
	t.Helper()
	path := placeholders.ReplaceAllStringFunc(template, func(name string) string {
		return cmp.Or(ids[strings.Trim(name, "{}")], unmade)
	})
	query := url.Values{}
	for _, parameter := range operation.Parameters {
		if p := parameter.Value; p.In == openapi3.ParameterInQuery && p.Required {
			query.Set(p.Name, leastText(p.Schema.Value))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	c := m.call(method, path).with(token).set("X-Request-Id", "same")
	if operation.RequestBody != nil {
		if content := operation.RequestBody.Value.Content.Get("application/json"); content != nil {
			c = m.call(method, path, least(content.Schema.Value)).with(token).set("X-Request-Id", "same")
		}
	}
	a := c.do(t)
	a.Header().Del("Date")
	return &seen{a.Code, a.Header(), a.Body.String()}
}

// unmade is the id of what the worlds have none of.
const unmade = "00000000-0000-7000-8000-000000000000"

// least is the smallest value that a schema allows, near enough for a request to get
// to the look-up of what it names.
func least(s *openapi3.Schema) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Is("object"):
		o := map[string]any{}
		for _, name := range s.Required {
			o[name] = least(s.Properties[name].Value)
		}
		return o
	case s.Type.Is("array"):
		return []any{}
	case s.Type.Is("integer"), s.Type.Is("number"):
		return 1
	case s.Type.Is("boolean"):
		return true
	case s.Format == "uuid":
		return unmade
	}
	return "x"
}

func leastText(s *openapi3.Schema) string {
	switch v := least(s).(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	default:
		b, _ := json.Marshal(v)
		return string(b)
	}
}
