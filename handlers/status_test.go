package handlers_test

import (
	"strings"
	"testing"
)

// API-11, OP-14: the routes of the service itself need no token.
func TestStatus(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		for path, text := range map[string]string{
			"/livez":        `{"status":"ok"}`,
			"/healthz":      `{"status":"ok"}`,
			"/readyz":       `{"status":"ok"}`,
			"/metrics":      "",
			"/openapi.json": `"operationId":"createTask"`,
			"/openapi.yaml": "operationId: createTask",
			"/v1/version":   `"version":"test"`,
			"/docs/":        "swagger",
		} {
			s.call("GET", path).with("").do(t).want(t, 200, text)
		}
		s.call("GET", "/v1/limits").with("").do(t).wantCode(t, 401, "unauthenticated")
		s.call("GET", "/v1/limits").do(t).want(t, 200, `"plan_content_bytes":1048576`)
		s.call("GET", "/nowhere").with("").do(t).wantCode(t, 404, "not_found")
		s.call("DELETE", "/v1/tasks").do(t).wantCode(t, 405, "method_not_allowed")
	})
}

// API-20, API-21: a token is shown once and opens until it is revoked.
func TestTokens(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		made := s.call("POST", "/v1/tokens", `{"scope":"user","label":"laptop"}`).do(t).want(t, 201, `"expires_at":null`).json(t)
		secret, id := made["token"].(string), made["id"].(string)
		s.call("GET", "/v1/tasks").with(secret).do(t).want(t, 200)
		if list := s.call("GET", "/v1/tokens").do(t).want(t, 200, id).Body.String(); strings.Contains(list, secret) {
			t.Error("the list shows a secret")
		}
		s.call("DELETE", "/v1/tokens/"+id).do(t).want(t, 204)
		s.call("GET", "/v1/tasks").with(secret).do(t).wantCode(t, 401, "unauthenticated")
		s.call("DELETE", "/v1/tokens/nobody").do(t).wantCode(t, 404, "token_not_found")
		s.call("POST", "/v1/tokens", `{"scope":"owner"}`).do(t).wantField(t, "/body/scope", "enum")
		s.call("POST", "/v1/workspaces", `{"name":"other"}`).do(t).wantCode(t, 409, "workspace_conflict")
		s.call("GET", "/v1/workspaces").do(t).want(t, 200, `"name":"default"`, `"name":"other"`)
	})
}
