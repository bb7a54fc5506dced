package handlers_test

import (
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/plan"
)

// prompts is a task with a plan, a primary session and the ways to talk to both.
type prompts struct {
	*stack
	task    string // path
	taskID  string
	session string // id
	planID  string
}

func newPrompts(t *testing.T, s *stack) *prompts {
	t.Helper()
	p := &prompts{stack: s, task: s.task(t)}
	p.taskID = strings.TrimPrefix(p.task, "/v1/tasks/")
	p.session = s.session(t, p.task)
	saved, err := s.plans.Save(t.Context(), plan.SaveRequest{TaskID: p.taskID, Content: "the plan"})
	if err != nil {
		t.Fatal(err)
	}
	p.planID = saved.ID
	return p
}

// comment adds a comment and returns its ref as a request names it.
func (p *prompts) comment(t *testing.T) map[string]any {
	t.Helper()
	d := plan.Draft{ID: domain.NewID(), Body: "why?", SelectedText: "step one", AnchorFrom: 1, AnchorTo: 9}
	if _, _, err := p.plans.CreateComment(t.Context(), plan.NewComment{TaskID: p.taskID, PlanID: p.planID, Draft: d}); err != nil {
		t.Fatal(err)
	}
	return map[string]any{"id": d.ID, "version": 1}
}

// admit asks for a direct prompt as a user.
func (p *prompts) admit(body any) *call {
	return p.call("POST", p.task+"/sessions/"+p.session+"/prompts", body).as(access.ScopeUser)
}

// run calls an operation as a runner.
func (p *prompts) run(path string, body any) *call {
	return p.call("POST", path, body).as(access.ScopeRunner)
}

func (p *prompts) reserve(t *testing.T) (path, token string) {
	t.Helper()
	r := p.run("/v1/sessions/"+p.session+"/deliveries/reserve", "").do(t).want(t, 200).json(t)
	return "/v1/deliveries/" + r["delivery"].(map[string]any)["id"].(string), r["token"].(string)
}

func eachPrompts(t *testing.T, f func(t *testing.T, p *prompts)) {
	eachStack(t, func(t *testing.T, s *stack) { f(t, newPrompts(t, s)) })
}

// AD-2, AD-7, AD-8, AD-11 as a client sees them.
func TestAdmitPrompt(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		kept := p.comment(t)
		ref := p.comment(t)
		body := map[string]any{
			"client_message_id": "m:1", "content": "go on", "plan_comment_refs": []any{ref},
			"require_primary_session": true, "plan_mode": true, "model": "m", "metadata": map[string]any{"a": 1.5},
			"expected_session_state": "created",
		}
		made := p.admit(body).do(t).want(t, 201, `"replayed":false`, `"state":"pending"`, `"kind":"direct"`, `"position":1`,
			`"plan_mode":true`, `"model":"m"`, `"client_id":"m:1"`, `### Plan Comments\n\n`, `"seq":1`, `"revision":3`, kept["id"].(string), `"a":1.5`)
		if made.Header().Get("Idempotent-Replayed") != "" || strings.Contains(made.Body.String(), "requested_session_id") {
			t.Errorf("first answer is %v %s", made.Header(), made.Body)
		}
		receipt := made.Header().Get("Location")
		if receipt != p.task+"/admissions/m:1" {
			t.Errorf("Location is %s", receipt)
		}
		again := p.admit(body).do(t).want(t, 200, `"replayed":true`, `"state":"pending"`)
		if again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("replay has %v", again.Header())
		}
		body["expected_session_state"] = "idle" // a precondition is no part of the request
		p.admit(body).do(t).want(t, 200)
		body["content"] = "stop"
		delete(body, "model")
		p.admit(body).do(t).wantCode(t, 409, "admission_conflict").want(t, 409, `"differing_fields":["content","model"]`)

		p.call("GET", receipt).as(access.ScopeUser).do(t).want(t, 200, `"client_id":"m:1"`, `"reserved_at":null`, ref["id"].(string), p.session)
		p.call("GET", p.task+"/admissions/m%3A1").do(t).want(t, 200, `"client_id":"m:1"`)
		p.call("GET", p.task+"/admissions/other").do(t).wantCode(t, 404, "admission_not_found")
		p.call("GET", p.task+"/deliveries?state=pending").do(t).want(t, 200, `"client_id":"m:1"`)
		p.call("GET", p.task+"/deliveries?state=attempted").do(t).want(t, 200, `"items":[]`)
		p.call("GET", p.task+"/deliveries?state=lost").do(t).wantCode(t, 422, "validation_failed")
	})
}

// What refuses a prompt, and what the answer says (AD-1, AD-4, AD-10).
func TestAdmitPromptRefusals(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		ref := p.comment(t)
		stale := map[string]any{"id": ref["id"], "version": 2}
		p.admit(map[string]any{"client_message_id": "c", "plan_comment_refs": []any{stale}}).do(t).
			wantCode(t, 409, "plan_comments_changed").want(t, 409, `"snapshot":{`, ref["id"].(string), p.planID)
		p.admit(map[string]any{"client_message_id": "c", "content": "x", "attachment_ids": []any{domain.NewID()}}).do(t).
			wantCode(t, 404, "attachment_not_found")
		p.admit(map[string]any{"client_message_id": "c", "content": "x", "expected_session_state": "idle"}).do(t).
			wantCode(t, 409, "session_unavailable").want(t, 409, `"reason":"changed"`, `"session_state":"created"`, p.session)
		p.admit(map[string]any{"client_message_id": "c", "content": strings.Repeat("x", domain.MaxPromptContent+1)}).do(t).
			wantCode(t, 422, "prompt_too_large").want(t, 422, `"maximum":1048576`, `"actual":1048577`)
		p.call("PUT", p.task+"/primary-session", `{"session_id":null}`).do(t).want(t, 200)
		p.admit(map[string]any{"client_message_id": "c", "content": "x", "require_primary_session": true}).do(t).
			wantCode(t, 409, "primary_session_changed").want(t, 409, `"primary_session_id":null`, `"primary_session_state":null`)

		for name, c := range map[string]struct{ body, field, code string }{
			"nothing to send":   {`{"client_message_id":"c"}`, "/body/content", "blank"},
			"no id":             {`{"content":"x"}`, "/body/client_message_id", "required"},
			"a bad id":          {`{"content":"x","client_message_id":"a b"}`, "/body/client_message_id", "format"},
			"an unknown member": {`{"content":"x","client_message_id":"c","session_id":"y"}`, "/body/session_id", "unknown"},
			"a reserved key":    {`{"content":"x","client_message_id":"c","metadata":{"status":1}}`, "/body/metadata/status", "reserved"},
			"U+0000":            {`{"content":"\u0000","client_message_id":"c"}`, "/body/content", "nul"},
			"a ref twice": {
				`{"client_message_id":"c","plan_comment_refs":[{"id":"` + ref["id"].(string) + `","version":1},{"id":"` + strings.ToUpper(ref["id"].(string)) + `","version":1}]}`,
				"/body/plan_comment_refs/1/id", "duplicate",
			},
		} {
			t.Run(name, func(t *testing.T) { p.admit(c.body).do(t).wantField(t, c.field, c.code) })
		}
		p.call("GET", p.task+"/admissions/c").do(t).wantCode(t, 404, "admission_not_found")
		p.call("POST", p.task+"/sessions/"+domain.NewID()+"/prompts", `{"client_message_id":"c","content":"x"}`).do(t).wantCode(t, 404, "session_not_found")
		p.call("POST", p.task+"/sessions/7/prompts", `{"client_message_id":"c","content":"x"}`).do(t).wantCode(t, 404, "session_not_found")
		p.admit(`{"client_message_id":"c","content":"x"}`).with(p.foreign[access.ScopeUser]).do(t).wantCode(t, 404, "task_not_found")
	})
}

// DL-1, DL-2: a delivery from reserve to acknowledge.
func TestDeliverySteps(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		reserve := "/v1/sessions/" + p.session + "/deliveries/reserve"
		p.run(reserve, "").do(t).want(t, 204)
		p.admit(`{"client_message_id":"c","content":"go on"}`).do(t).want(t, 201)
		p.call("POST", reserve).as(access.ScopeUser).do(t).wantCode(t, 403, "forbidden")
		p.run(reserve, `{"lease_seconds":0}`).do(t).wantCode(t, 422, "validation_failed")

		path, token := p.reserve(t)
		p.run(reserve, `{"lease_seconds":5}`).do(t).want(t, 204)
		p.admit(`{"client_message_id":"d","content":"x"}`).do(t).wantCode(t, 409, "session_unavailable").want(t, 409, `"reason":"pending_deliveries"`)
		got := p.call("GET", path).as(access.ScopeUser).do(t).want(t, 200, `"state":"reserved"`)
		if strings.Contains(got.Body.String(), token) {
			t.Error("the token is shown again")
		}
		p.run(path+"/acknowledge", map[string]any{"token": token, "outcome": "failed"}).do(t).wantCode(t, 409, "delivery_not_attempted")
		p.run(path+"/release", map[string]any{"token": token, "reason": "later"}).do(t).want(t, 200, `"state":"pending"`)
		p.run(path+"/attempt", map[string]any{"token": token}).do(t).wantCode(t, 409, "lease_lost")

		path, token = p.reserve(t)
		p.run(path+"/attempt", map[string]any{"token": token}).do(t).want(t, 200, `"state":"attempted"`, `"message_id"`, `"turn_id"`)
		p.run(path+"/attempt", map[string]any{"token": token}).do(t).wantCode(t, 409, "delivery_attempted")
		p.run(path+"/release", map[string]any{"token": token}).do(t).wantCode(t, 409, "delivery_attempted")
		p.call("GET", "/v1/sessions/"+p.session).do(t).want(t, 200, `"state":"running"`)
		ack := map[string]any{"token": token, "outcome": "failed", "detail": "the agent is away"}
		for range 2 {
			p.run(path+"/acknowledge", ack).do(t).want(t, 200, `"state":"acknowledged"`, `"outcome":"failed"`, `"detail":"the agent is away"`)
		}
		p.call("GET", "/v1/sessions/"+p.session).do(t).want(t, 200, `"state":"waiting_for_input"`)
		p.admit(`{"client_message_id":"c","content":"go on"}`).do(t).want(t, 200, `"state":"acknowledged"`)

		p.run(path+"/acknowledge", map[string]any{"token": "x", "outcome": "failed"}).do(t).wantCode(t, 409, "lease_lost")
		p.run(path+"/acknowledge", map[string]any{"token": token, "outcome": "perhaps"}).do(t).wantCode(t, 422, "validation_failed")
		p.run("/v1/deliveries/"+domain.NewID()+"/attempt", map[string]any{"token": token}).do(t).wantCode(t, 404, "delivery_not_found")
		p.run(path+"/attempt", map[string]any{"token": token}).with(p.foreign[access.ScopeRunner]).do(t).wantCode(t, 404, "delivery_not_found")
		p.call("PATCH", p.task, `{"archived":true}`).do(t).want(t, 200)
		p.run(reserve, "").do(t).wantCode(t, 409, "task_archived")
		p.admit(`{"client_message_id":"e","content":"x"}`).do(t).wantCode(t, 409, "task_archived")
	})
}
