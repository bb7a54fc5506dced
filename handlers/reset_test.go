package handlers_test

import (
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// DL-9 as a runner sees it.
func TestResetSession(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		session := "/v1/sessions/" + p.session
		old := p.call("GET", session).do(t).text(t, "incarnation_id")
		p.enqueue(t, "q1", "x")
		path, token := p.reserve(t)
		p.call("POST", session+"/reset", "").as(access.ScopeUser).do(t).wantCode(t, 403, "forbidden")
		p.run(session+"/reset", map[string]any{"expected_incarnation_id": domain.NewID()}).do(t).wantCode(t, 409, "session_replaced")
		p.run(session+"/reset", `{"expected_incarnation_id":"7"}`).do(t).wantField(t, "/body/expected_incarnation_id", "format")
		reset := p.run(session+"/reset", map[string]any{"expected_incarnation_id": strings.ToUpper(old)}).do(t).want(t, 200, `"state":"created"`)
		if now := reset.text(t, "incarnation_id"); now == old || now == "" {
			t.Errorf("incarnation %s after %s", now, old)
		}
		p.call("GET", path).do(t).want(t, 200, `"state":"discarded"`)
		p.run(path+"/attempt", map[string]any{"token": token}).do(t).wantCode(t, 409, "session_replaced")
		p.run(path+"/release", map[string]any{"token": token}).do(t).wantCode(t, 409, "lease_lost")
		p.run(path+"/acknowledge", map[string]any{"token": token, "outcome": "failed"}).do(t).wantCode(t, 409, "lease_lost")
		p.queued(map[string]any{"client_queue_id": "q2", "content": "x", "session_incarnation_id": old}).do(t).wantCode(t, 409, "session_replaced")
		p.run(session+"/reset", "").do(t).want(t, 200)
		p.call("PATCH", session, `{"state":"completed"}`).do(t).want(t, 200)
		p.run(session+"/reset", "").do(t).wantCode(t, 409, "session_unavailable")
	})
}
