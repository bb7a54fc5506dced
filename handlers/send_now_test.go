package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// now is a request to send entries of the queue as it is, all without ids.
func (p *prompts) now(t *testing.T, ids ...string) map[string]any {
	t.Helper()
	body := map[string]any{"expected_queue_revision": p.call("GET", p.queuePath()).do(t).want(t, 200).number(t, "queue_revision")}
	if ids != nil {
		body["entry_ids"] = ids
	}
	return body
}

// send sends entries now with a token of that scope.
func (p *prompts) send(scope access.Scope, body any) *call {
	return p.call("POST", p.queuePath()+"/send-now", body).as(scope)
}

// DL-8 as a person and a runner see it.
func TestSendNow(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		p.admit(`{"client_message_id":"m","content":"one"}`).do(t).want(t, 201)
		second, third := p.enqueue(t, "q1", "two"), p.enqueue(t, "q2", "three")

		sent := p.send(access.ScopeUser, p.now(t, strings.ToUpper(third))).do(t).
			want(t, 200, `"kind":"combined"`, `"state":"pending"`, `"client_id":null`, `"content":"three"`, `"combined_into":null`)
		if body := sent.Body.String(); strings.Contains(body, "token") || strings.Contains(body, "lease") {
			t.Errorf("a user gets %s", body)
		}
		whole := sent.text(t, "delivery", "id")
		p.call("GET", p.task+"/admissions/q2").do(t).want(t, 200, `"state":"combined"`, `"combined_into":"`+whole+`"`)
		p.change("PATCH", "/"+third, `{"content":"x","expected_version":1}`).do(t).wantCode(t, 409, "entry_not_editable")
		p.change("DELETE", "/"+whole).do(t).wantCode(t, 409, "entry_not_editable")
		path, token := p.reserve(t)
		if path != "/v1/deliveries/"+whole {
			t.Errorf("reserved %s", path)
		}
		p.run(path+"/release", map[string]any{"token": token}).do(t).want(t, 200, `"state":"discarded"`)
		p.call("GET", "/v1/deliveries/"+third).do(t).want(t, 200, `"state":"pending"`, `"combined_into":null`)

		sent = p.send(access.ScopeRunner, p.now(t)).do(t).
			want(t, 200, `"state":"reserved"`, `"content":"one\n\ntwo\n\nthree"`, `"lease_expires_at"`, `"position":0`)
		path, token = "/v1/deliveries/"+sent.text(t, "delivery", "id"), sent.text(t, "token")
		p.send(access.ScopeRunner, p.now(t, second)).do(t).wantCode(t, 409, "send_now_conflict")
		attempted := p.run(path+"/attempt", map[string]any{"token": token}).do(t).want(t, 200, `"state":"attempted"`)
		p.call("GET", "/v1/deliveries/"+second).do(t).want(t, 200, `"state":"attempted"`,
			`"message_id":"`+attempted.text(t, "message_id")+`"`, `"turn_id":"`+attempted.text(t, "turn_id")+`"`)
		p.run(path+"/acknowledge", map[string]any{"token": token, "outcome": "unknown", "detail": "lost"}).do(t).want(t, 200)
		p.call("GET", "/v1/deliveries/"+second).do(t).want(t, 200, `"state":"outcome_unknown"`, `"detail":"lost"`)
	})
}

// What refuses it, and what the answer says (DL-8).
func TestSendNowRefusals(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		refuse := func(body any, status int, code string, texts ...string) {
			t.Helper()
			p.send(access.ScopeUser, body).do(t).wantCode(t, status, code).want(t, status, texts...)
		}
		refuse(p.now(t), 409, "queue_empty")
		id := p.enqueue(t, "q1", strings.Repeat("x", domain.MaxPromptContent))
		refuse(`{"expected_queue_revision":0}`, 409, "queue_changed", `"queue":{`, `"queue_revision":1`, id)
		refuse(p.now(t, domain.NewID()), 404, "entry_not_found")
		refuse(`{"expected_queue_revision":1,"entry_ids":[]}`, 409, "queue_empty")
		p.enqueue(t, "q2", "y")
		refuse(p.now(t), 422, "prompt_too_large", fmt.Sprintf(`"actual":%d`, domain.MaxPromptContent+3))
		p.send(access.ScopeUser, `{}`).do(t).wantField(t, "/body/expected_queue_revision", "required")
		p.send(access.ScopeUser, p.now(t, id, strings.ToUpper(id))).do(t).wantField(t, "/body/entry_ids/1", "duplicate")
		p.send(access.ScopeUser, p.now(t, "7")).do(t).wantField(t, "/body/entry_ids/0", "format")

		p.run("/v1/sessions/"+p.session+"/turns", "").do(t).want(t, 201, `"interrupt_requested":false`)
		refuse(p.now(t, id), 409, "session_unavailable", `"reason":"busy"`, `"session_state":"running"`)
		body := p.now(t, id)
		body["interrupt"] = true
		p.send(access.ScopeUser, body).do(t).want(t, 200)
		p.call("GET", "/v1/sessions/"+p.session+"/turns").as(access.ScopeUser).do(t).want(t, 200, `"interrupt_requested":true`)
		refuse(p.now(t, id), 409, "session_unavailable")

		p.call("PATCH", "/v1/sessions/"+p.session, `{"state":"failed"}`).do(t).want(t, 200)
		refuse(p.now(t, id), 409, "session_unavailable", `"reason":"terminal"`)
		p.call("PATCH", p.task, `{"archived":true}`).do(t).want(t, 200)
		refuse(p.now(t, id), 409, "task_archived")
	})
}
