package handlers_test

import (
	"strconv"
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/session"
)

// queued asks for a queued prompt as a user.
func (p *prompts) queued(body any) *call {
	return p.call("POST", p.queuePath(), body).as(access.ScopeUser)
}

// queuePath is that of the queue of the session.
func (p *prompts) queuePath() string { return p.task + "/sessions/" + p.session + "/queue" }

// change calls an operation below the queue as a user.
func (p *prompts) change(method, below string, body ...any) *call {
	return p.call(method, p.queuePath()+below, body...).as(access.ScopeUser)
}

// enqueue admits a text and returns the id of its entry.
func (p *prompts) enqueue(t *testing.T, clientID, content string) string {
	t.Helper()
	return p.queued(map[string]any{"client_queue_id": clientID, "content": content}).do(t).want(t, 201).text(t, "delivery", "id")
}

// AD-5, AD-7, AD-11 on the queued transport, as a client sees them.
func TestAdmitQueued(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		ref := p.comment(t)
		incarnation := p.call("GET", "/v1/sessions/"+p.session).do(t).text(t, "incarnation_id")
		body := map[string]any{
			"client_queue_id": "q:1", "content": "go on", "plan_comment_refs": []any{ref}, "plan_mode": true, "model": "m",
			"metadata": map[string]any{"a": 1}, "session_incarnation_id": strings.ToUpper(incarnation), "require_primary_session": true,
		}
		made := p.queued(body).do(t).want(t, 201, `"replayed":false`, `"kind":"queued"`, `"state":"pending"`, `"message":null`,
			`"message_id":null`, `"client_id":"q:1"`, `### Plan Comments\n\n`, `"comments":[]`)
		if got := made.Header().Get("Location"); got != p.task+"/admissions/q:1" {
			t.Errorf("Location is %q", got)
		}
		p.call("GET", p.task+"/admissions/q:1").do(t).want(t, 200, `"consumed_comment_refs":[{"id":"`+ref["id"].(string)+`"`)

		again := p.queued(body).do(t).want(t, 200, `"replayed":true`, made.text(t, "delivery", "id"))
		if again.Header().Get("Idempotent-Replayed") != "true" {
			t.Error("a replay does not say so")
		}
		body["content"] = "stop"
		p.queued(body).do(t).wantCode(t, 409, "admission_conflict").want(t, 409, `"differing_fields":["content"]`)
		p.admit(`{"client_message_id":"q:1","content":"go on"}`).do(t).wantCode(t, 409, "admission_conflict").want(t, 409, `"transport"`)

		p.queued(map[string]any{"client_queue_id": "q", "content": "x", "session_incarnation_id": domain.NewID()}).do(t).
			wantCode(t, 409, "session_replaced")
		p.queued(`{"client_queue_id":"q"}`).do(t).wantField(t, "/body/content", "blank")
		p.queued(`{"client_queue_id":"a b","content":"x"}`).do(t).wantField(t, "/body/client_queue_id", "format")
		p.queued(`{"client_queue_id":"q","content":"x","session_incarnation_id":"7"}`).do(t).wantField(t, "/body/session_incarnation_id", "format")
		p.queued(`{"client_queue_id":"q","content":"x","expected_session_state":"idle"}`).do(t).wantField(t, "/body/expected_session_state", "unknown")
		p.queued(map[string]any{"client_queue_id": "q", "plan_comment_refs": []any{ref}}).do(t).wantCode(t, 409, "plan_comments_changed")

		p.call("PATCH", "/v1/sessions/"+p.session, `{"state":"running"}`).do(t).want(t, 200)
		p.enqueue(t, "q:2", "x")
		for i := range domain.DefaultCapacity - 2 {
			p.enqueue(t, strconv.Itoa(i), "x")
		}
		p.queued(`{"client_queue_id":"q","content":"x"}`).do(t).wantCode(t, 409, "queue_full").want(t, 409, `"size":100`, `"maximum":100`)
		p.call("GET", p.task+"/admissions/q").do(t).wantCode(t, 404, "admission_not_found")
		p.call("PATCH", "/v1/sessions/"+p.session, map[string]any{"state": session.StateFailed}).do(t).want(t, 200)
		p.queued(`{"client_queue_id":"q","content":"x"}`).do(t).wantCode(t, 409, "session_unavailable").want(t, 409, `"reason":"terminal"`)
	})
}

// API-6: the queue with its tag.
func TestGetQueue(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		empty := p.change("GET", "").do(t).want(t, 200, `"queue_revision":0`, `"capacity":100`, `"auto_run":true`, `"entries":[]`, p.session)
		tag := empty.Header().Get("ETag")
		same := p.change("GET", "").set("If-None-Match", `"x", W/`+tag).do(t).want(t, 304)
		if same.Header().Get("ETag") != tag || same.Body.Len() > 0 || !strings.HasPrefix(tag, `"`) {
			t.Errorf("304 with %s and %q, of %s", same.Header().Get("ETag"), same.Body, tag)
		}
		id := p.enqueue(t, "q1", "x")
		for _, change := range []func(){
			func() { p.enqueue(t, "q2", "y") },
			func() {
				p.call("PATCH", "/v1/sessions/"+p.session, `{"auto_run":false}`).do(t).want(t, 200, `"queue_revision":3`)
			},
			func() { p.call("PATCH", "/v1/sessions/"+p.session, `{"auto_run":true}`).do(t).want(t, 200) },
			func() { p.reserve(t) },
		} {
			tag = p.change("GET", "").do(t).want(t, 200, id).Header().Get("ETag")
			change()
			p.change("GET", "").set("If-None-Match", tag).do(t).want(t, 200)
		}
		p.change("GET", "").do(t).want(t, 200, `"queue_revision":5`, `"state":"reserved"`)
		p.call("GET", p.task+"/sessions/"+domain.NewID()+"/queue").do(t).wantCode(t, 404, "session_not_found")
		p.call("GET", p.task+"/sessions/7/queue").do(t).wantCode(t, 404, "session_not_found")
	})
}

// DL-5, DL-7: people change what waits.
func TestChangeQueue(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		first, second, third := p.enqueue(t, "q1", "one"), p.enqueue(t, "q2", "two"), p.enqueue(t, "q3", "three")
		tagged := func(a *answer) *answer {
			t.Helper()
			p.change("GET", "").set("If-None-Match", a.want(t, 200).Header().Get("ETag")).do(t).want(t, 304)
			return a
		}
		edit := map[string]any{"content": "uno", "expected_version": 1}
		tagged(p.change("PATCH", "/"+strings.ToUpper(first), edit).do(t)).want(t, 200, `"content":"uno"`, `"version":2`, `"queue_revision":4`)
		p.change("PATCH", "/"+first, edit).do(t).wantCode(t, 409, "queue_changed").want(t, 409, `"queue":{`, `"queue_revision":4`, `"content":"uno"`)
		p.change("PATCH", "/"+first, `{"content":" ","expected_version":2}`).do(t).wantField(t, "/body/content", "blank")
		p.change("PATCH", "/"+first, `{"content":"x"}`).do(t).wantField(t, "/body/expected_version", "required")
		p.change("PATCH", "/"+first, map[string]any{"content": strings.Repeat("x", domain.MaxPromptContent+1), "expected_version": 2}).do(t).
			wantCode(t, 422, "prompt_too_large").want(t, 422, `"maximum":1048576`, `"actual":1048577`)

		order := func(ids ...string) map[string]any { return map[string]any{"entry_ids": append([]string{}, ids...)} }
		moved := tagged(p.change("PUT", "/order", order(third, strings.ToUpper(first), second)).do(t))
		if got := moved.text(t, "entries", 0, "id") + moved.text(t, "entries", 1, "id"); got != third+first {
			t.Errorf("order is %s", moved.Body)
		}
		tagged(p.change("PUT", "/order", order(third, first, second)).do(t)).want(t, 200, `"queue_revision":5`)
		p.change("PUT", "/order", order(third, first)).do(t).wantCode(t, 409, "queue_changed").want(t, 409, `"queue":{`)
		p.change("PUT", "/order", order("7")).do(t).wantField(t, "/body/entry_ids/0", "format")

		tagged(p.change("DELETE", "/"+second).do(t)).want(t, 200, `"queue_revision":6`)
		p.change("DELETE", "/"+second).do(t).wantCode(t, 404, "entry_not_found")
		p.change("PATCH", "/"+second, edit).do(t).wantCode(t, 404, "entry_not_found")
		p.change("DELETE", "/order").do(t).want(t, 404)
		p.call("GET", p.task+"/admissions/q2").do(t).want(t, 200, `"state":"cancelled"`, `"cancelled_at":"`)
		p.queued(`{"client_queue_id":"q2","content":"two"}`).do(t).want(t, 200, `"replayed":true`, `"state":"cancelled"`)

		p.reserve(t)
		p.change("PATCH", "/"+third, edit).do(t).wantCode(t, 409, "entry_reserved")
		p.change("DELETE", "/"+third).do(t).wantCode(t, 409, "entry_reserved")
		p.change("DELETE", "/"+first).do(t).want(t, 200)
		p.call("PATCH", p.task, `{"archived":true}`).do(t).want(t, 200)
		p.change("PUT", "/order", order()).do(t).wantCode(t, 409, "task_archived")
	})
}

// DL-5: a direct prompt is in the queue and cannot be changed there.
func TestDirectEntryIsNotEditable(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		id := p.admit(`{"client_message_id":"c","content":"x"}`).do(t).want(t, 201).text(t, "delivery", "id")
		p.change("GET", "").do(t).want(t, 200, id, `"kind":"direct"`)
		p.change("PATCH", "/"+id, `{"content":"y","expected_version":1}`).do(t).wantCode(t, 409, "entry_not_editable")
		p.change("DELETE", "/"+id).do(t).wantCode(t, 409, "entry_not_editable")
		p.change("PUT", "/order", `{"entry_ids":[]}`).do(t).want(t, 200, `"queue_revision":1`)
	})
}

// DL-6: texts at the end of the queue.
func TestAppendToQueue(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		p.change("POST", "/append", `{"content":"a"}`).do(t).want(t, 200, `"client_id":null`, `"queue_revision":1`)
		got := p.change("POST", "/append", `{"content":"b"}`).do(t).want(t, 200, `"content":"a\n\nb"`, `"version":2`, `"queue_revision":2`)
		p.change("GET", "").set("If-None-Match", got.Header().Get("ETag")).do(t).want(t, 304)
		p.change("POST", "/append", `{"content":"c","plan_mode":true,"model":"m"}`).do(t).want(t, 200, `"content":"c"`, `"model":"m"`)
		named := `{"content":"d","client_queue_id":"q1"}`
		for _, replayed := range []string{"", "true"} {
			a := p.change("POST", "/append", named).do(t).want(t, 200, `"client_id":"q1"`, `"queue_revision":4`)
			if got := a.Header().Get("Idempotent-Replayed"); got != replayed {
				t.Errorf("Idempotent-Replayed is %q, want %q", got, replayed)
			}
		}
		p.queued(`{"client_queue_id":"q1","content":"d"}`).do(t).want(t, 200, `"replayed":true`)
		p.change("POST", "/append", `{"content":"e","client_queue_id":"q1"}`).do(t).wantCode(t, 409, "admission_conflict")
		p.change("POST", "/append", `{"content":" "}`).do(t).wantField(t, "/body/content", "blank")
		p.change("POST", "/append", `{"content":"x","model":" "}`).do(t).wantField(t, "/body/model", "blank")
		p.change("POST", "/append", `{}`).do(t).wantField(t, "/body/content", "required")
		p.call("PATCH", "/v1/sessions/"+p.session, `{"state":"completed"}`).do(t).want(t, 200)
		p.change("POST", "/append", `{"content":"x"}`).do(t).wantCode(t, 409, "session_unavailable")
		p.change("POST", "/append", named).do(t).want(t, 200)
		p.call("DELETE", "/v1/sessions/"+p.session).do(t).want(t, 204)
		p.change("POST", "/append", named).do(t).want(t, 200, `"entries":[]`)
	})
}
