package handlers_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/handlers"
)

// The first message brings the token, and nothing else does; without one in time the
// connection is closed.
func TestSocketAuthentication(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		server := s.socketServer(t)
		revoked := s.call("POST", "/v1/tokens", `{"scope":"user"}`).do(t).want(t, 201)
		s.call("DELETE", "/v1/tokens/"+revoked.id(t)).do(t).want(t, 204)
		for why, first := range map[string]string{
			"unauthenticated":   `{"id":"1","action":"auth","payload":{"token":"` + revoked.text(t, "token") + `"}}`,
			"unauthenticated 2": `{"id":"1","action":"auth","payload":{"token":"nonsense"}}`,
			"unauthenticated 3": `{"id":"1","action":"auth","payload":{"token":7}}`,
			"unauthenticated 4": `{"id":"1","action":"auth","payload":{}}`,
			"unauthenticated 5": `{"id":"1","action":"task.subscribe","payload":{"task_id":"x","token":"` + s.token[access.ScopeUser] + `"}}`,
			"malformed_request": `{"id":"1","action":"open"}`,
		} {
			c := s.stranger(t, server, nil)
			code, _, _ := strings.Cut(why, " ")
			c.says(first).of("1").fails(code)
			c.closes(websocket.StatusPolicyViolation)
		}
		s.sockets.Hasten(50*time.Millisecond, time.Minute, time.Minute)
		c := s.stranger(t, server, http.Header{"Authorization": {"Bearer " + s.token[access.ScopeUser]}})
		c.closes(websocket.StatusPolicyViolation)
	})
}

// A page of another origin may not connect, whatever its browser's cookies are; who has
// no origin is no page.
func TestSocketOrigin(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		server := s.socketServer(t)
		for name, test := range map[string]struct {
			header http.Header
			status int
		}{
			"no page":      {http.Header{}, 0},
			"own":          {http.Header{"Origin": {server.URL}}, 0},
			"another":      {http.Header{"Origin": {"https://evil.example"}}, http.StatusForbidden},
			"none to tell": {http.Header{"Origin": {"null"}}, http.StatusForbidden},
			"cross-site":   {http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
		} {
			if _, status := dial(t, server, test.header); status != test.status {
				t.Errorf("%s: refused with %d, want %d", name, status, test.status)
			}
		}
	})
}

// What is no upgrade is a problem, and nothing of the library's.
func TestSocketNeedsAnUpgrade(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		whole := map[string]string{
			"Connection": "keep-alive, Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
		}
		for name := range whole {
			for _, value := range []string{"", "x"} {
				c := s.call("GET", "/v1/ws").with("")
				for other, good := range whole {
					c.set(other, good)
				}
				c.set(name, value).do(t).wantCode(t, http.StatusBadRequest, "malformed_request")
			}
		}
	})
}

// An action has the answers, the rights and the problems of the operation behind it.
func TestSocketActions(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		rest, over := newCommentStack(t, s), newCommentStack(t, s)
		c := s.socket(t, s.token[access.ScopeUser])
		id := domain.NewID()
		draft := map[string]any{"id": id, "body": "why?\r\n\r\nevent: ready\ndata: {}", "selected_text": "s", "anchor_from": 3, "anchor_to": 11}
		for _, step := range []struct {
			name, action, method, path string
			payload                    map[string]any
			query                      string
		}{
			{"empty", "list", "GET", "", map[string]any{}, ""},
			{"create", "create", "POST", "", draft, ""},
			{"replay", "create", "POST", "", draft, ""},
			{"id taken", "create", "POST", "", but(draft, "body", "other"), ""},
			{"two mistakes", "create", "POST", "", but(but(draft, "body", 7), "anchor_to", "x"), ""},
			{"unknown member", "create", "POST", "", but(draft, "colour", "red"), ""},
			{"too long", "create", "POST", "", but(but(draft, "id", domain.NewID()), "body", strings.Repeat("x", 100_000)), ""},
			{"update", "update", "PATCH", "/" + id, map[string]any{"expected_version": 1, "body": "new"}, ""},
			{"old version", "update", "PATCH", "/" + id, map[string]any{"expected_version": 1, "body": "newer"}, ""},
			{"nothing there", "update", "PATCH", "/" + domain.NewID(), map[string]any{"expected_version": 1, "body": "new"}, ""},
			{"list", "list", "GET", "", map[string]any{}, ""},
			{"no such query", "list", "GET", "", map[string]any{"x": 1}, "?x=1"},
			{"delete old", "delete", "DELETE", "/" + id, map[string]any{"expected_version": 1}, "?expected_version=1&plan_id={plan}"},
			{"delete", "delete", "DELETE", "/" + id, map[string]any{"expected_version": 2}, "?expected_version=2&plan_id={plan}"},
			{"delete again", "delete", "DELETE", "/" + id, map[string]any{"expected_version": 2}, "?expected_version=2&plan_id={plan}"},
			{"delete badly", "delete", "DELETE", "/" + id, map[string]any{"expected_version": "x"}, "?expected_version=x&plan_id={plan}"},
		} {
			body := maps.Clone(step.payload)
			call := s.call(step.method, rest.path+step.path+strings.ReplaceAll(step.query, "{plan}", rest.planID)).as(access.ScopeUser)
			if step.method == "POST" || step.method == "PATCH" {
				body["plan_id"] = rest.planID
				call = s.call(step.method, rest.path+step.path, body).as(access.ScopeUser)
			}
			want := call.do(t)

			payload := maps.Clone(step.payload)
			payload["task_id"] = strings.TrimPrefix(over.task, "/v1/tasks/")
			if step.action != "list" {
				payload["plan_id"] = over.planID
			}
			if step.path != "" {
				payload["comment_id"] = step.path[1:]
			}
			kind := "response"
			if want.Code >= 400 {
				kind = "error"
			}
			got := c.asks("task.plan.comments."+step.action, payload).is(kind)
			if diff := cmp.Diff(sameBut(want.Body.Bytes(), rest), sameBut(jsonOf(t, got), over)); diff != "" {
				t.Errorf("%s (-REST +WebSocket):\n%s", step.name, diff)
			}
		}
	})
}

// sameBut is an answer with what tells two tasks apart, and moments and requests, left out.
func sameBut(body []byte, s *commentStack) any {
	text := strings.NewReplacer(strings.TrimPrefix(s.task, "/v1/tasks/"), "TASK", s.planID, "PLAN").Replace(string(body))
	var v any
	_ = json.Unmarshal([]byte(text), &v)
	var clean func(v any)
	clean = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"request_id", "created_at", "updated_at"} {
				delete(v, name)
			}
			for _, below := range v {
				clean(below)
			}
			if list, ok := v["errors"].([]any); ok { // the order in which members came is the client's
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(field(a), field(b)) })
			}
		case []any:
			for _, below := range v {
				clean(below)
			}
		}
	}
	clean(v)
	return v
}

func field(problem any) string { return problem.(map[string]any)["field"].(string) }

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// API-22: what is in another workspace is not there, for every action; and an id that is
// missing is named.
func TestSocketKeepsWorkspacesApart(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := newCommentStack(t, s)
		id := strings.TrimPrefix(w.task, "/v1/tasks/")
		c := s.socket(t, s.foreign[access.ScopeRunner])
		for action, payload := range map[string]map[string]any{
			"task.plan.comments.list":   {},
			"task.plan.comments.create": w.draft(),
			"task.plan.comments.update": {"comment_id": domain.NewID(), "plan_id": w.planID, "expected_version": 1, "body": "x"},
			"task.plan.comments.delete": {"comment_id": domain.NewID(), "plan_id": w.planID, "expected_version": 1},
			"task.subscribe":            {},
		} {
			for _, task := range []string{id, domain.NewID(), "", ".", "..", "../..", "x/../y", "%2e%2e", "?a=b", "#", "a\x00b", "\u2028", strings.Repeat("x", 70_000)} {
				c.asks(action, but(payload, "task_id", task)).fails("task_not_found")
			}
			for why, wrong := range map[string]map[string]any{"required": payload, "type": but(payload, "task_id", 7)} {
				problem := c.asks(action, wrong).is("error")
				first := problem["errors"].([]any)[0].(map[string]any)
				if first["field"] != "/body/task_id" || first["code"] != why {
					t.Errorf("%s: %v", action, problem)
				}
			}
		}
	})
}

// A payload reaches the operation of its action and no other, whatever stands in the ids.
func TestSocketStaysWithItsAction(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := newCommentStack(t, s)
		id := strings.TrimPrefix(w.task, "/v1/tasks/")
		before := s.call("GET", w.task).do(t).number(t, "change_seq")
		c := s.socket(t, s.token[access.ScopeUser])
		for _, comment := range []string{"..", ".", "", "import", "../import", "x/run", "../../..", "?plan_id=" + w.planID, "..%2f..", "*"} {
			for action, payload := range map[string]map[string]any{
				"task.plan.comments.update": {"plan_id": w.planID, "expected_version": 1, "body": "x"},
				"task.plan.comments.delete": {"plan_id": w.planID, "expected_version": 1},
			} {
				payload = but(but(payload, "task_id", id), "comment_id", comment)
				if code := c.asks(action, payload).is("error")["code"]; code != "comment_not_found" && code != "plan_comments_changed" {
					t.Errorf("%s of %q: %v", action, comment, code)
				}
			}
		}
		for _, members := range []map[string]any{
			{"plan_id": []any{w.planID}},
			{"plan_id": map[string]any{"a": 1}},
			{"plan_id": nil},
			{"plan_id": w.planID + "&task_id=x"},
			{"expected_version": []any{1}},
			{"expected_version": 1.5},
			{"expected_version": 1e40},
			{"expected_version": true},
			{"a&b=c": 1},
			{"": 1},
		} {
			payload := map[string]any{"task_id": id, "comment_id": domain.NewID(), "plan_id": w.planID, "expected_version": 1}
			maps.Copy(payload, members)
			if code := c.asks("task.plan.comments.delete", payload).is("error")["code"]; code != "validation_failed" && code != "plan_comments_changed" {
				t.Errorf("%v: %v", members, code)
			}
		}
		if now := s.call("GET", w.task).do(t).number(t, "change_seq"); now != before {
			t.Errorf("the task went from %d to %d", before, now)
		}
	})
}

// API-21: where authentication is off everybody is known, and nobody says so first; but
// pages of other origins stay out.
func TestSocketWithoutAuthentication(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		off := s.options
		off.Authenticator, off.AuthOff, off.Metrics = nil, true, prometheus.NewRegistry()
		w := newCommentStack(t, s)
		var err error
		if s.Handler, err = handlers.New(off); err != nil {
			t.Fatal(err)
		}
		server := s.socketServer(t)
		c := s.stranger(t, server, nil)
		id := strings.TrimPrefix(w.task, "/v1/tasks/")
		c.asks("task.plan.comments.create", but(w.draft(), "task_id", id)).is("response")
		c.asks("task.subscribe", map[string]any{"task_id": id}).is("response")
		c.untilReady()
		if _, status := dial(t, server, http.Header{"Origin": {"https://evil.example"}}); status != http.StatusForbidden {
			t.Errorf("another origin: %d", status)
		}
	})
}

// What is no message of the contract is answered alike, and is no reason to end; what
// is no text or too much is one.
func TestSocketMessages(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		c := s.socket(t, s.token[access.ScopeUser])
		for text, id := range map[string]string{
			``: "", `{`: "", `[]`: "", `null`: "", `{"id":"x"}`: "x", `{"id":7,"action":"auth","payload":{}}`: "",
			`{"id":"x","action":"task.explode","payload":{}}`:                                    "x",
			`{"id":"x","action":"task.subscribe","payload":[]}`:                                  "x",
			`{"id":"x","action":"task.subscribe","payload":null}`:                                "x",
			`{"id":"x","action":"task.unsubscribe","payload":{},"more":1}`:                       "x",
			`{"id":"x","action":"task.unsubscribe","payload":{"a":1,"a":2}}`:                     "x",
			`{"id":"x","action":"task.unsubscribe","payload":{"a":"` + "\xff" + `"}}`:            "x",
			`{"id":"x","action":"auth","payload":{"token":"` + s.token[access.ScopeUser] + `"}}`: "x",
			`{"id":"` + strings.Repeat("x", 65) + `","action":"task.unsubscribe","payload":{}}`:  strings.Repeat("x", 64),
		} {
			reply := c.says(text)
			if reply.fails("malformed_request"); reply.m["id"] != id {
				t.Errorf("%s: id %v", text, reply.m["id"])
			}
		}
		c.asks("task.unsubscribe", map[string]any{"task_id": domain.NewID()}).is("response")
		if err := c.Write(t.Context(), websocket.MessageBinary, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		c.closes(websocket.StatusUnsupportedData)

		c = s.socket(t, s.token[access.ScopeUser])
		_ = c.Write(t.Context(), websocket.MessageText, make([]byte, 9<<20)) // which the server stops
		c.closes(websocket.StatusMessageTooBig)
	})
}

// EV-6, EV-8, OP-11: what ends a connection, with nothing subscribed.
func TestSocketIsEnded(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		s.sockets.Hasten(time.Minute, time.Minute, 20*time.Millisecond)
		made := s.call("POST", "/v1/tokens", `{"scope":"user"}`).do(t).want(t, 201)
		revoked, other := s.socket(t, made.text(t, "token")), s.socket(t, s.token[access.ScopeUser])
		s.call("DELETE", "/v1/tokens/"+made.id(t)).do(t).want(t, 204)
		revoked.closes(websocket.StatusPolicyViolation)

		open := []*socketClient{other}
		for len(open) < streamLimit {
			open = append(open, s.socket(t, s.token[access.ScopeUser]))
		}
		c := s.stranger(t, s.socketServer(t), nil)
		c.asks("auth", map[string]any{"token": s.token[access.ScopeUser]}).fails("rate_limited")
		c.closes(websocket.StatusPolicyViolation)

		s.sockets.Close()
		for _, c := range open {
			c.closes(websocket.StatusGoingAway)
		}
		s.sockets.Wait()
		if _, status := dial(t, s.socketServer(t), nil); status != http.StatusServiceUnavailable {
			t.Errorf("after the end: %d", status)
		}
	})
}
