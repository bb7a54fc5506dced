package handlers_test

import (
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// AD-9 as a client sees it.
func TestRunPlanComment(t *testing.T) {
	eachPrompts(t, func(t *testing.T, p *prompts) {
		run := func(id any, body any) *call {
			return p.call("POST", p.task+"/plan/comments/"+id.(string)+"/run", body).as(access.ScopeUser)
		}
		first, second, third := p.comment(t), p.comment(t), p.comment(t)
		body := map[string]any{"client_admission_id": "r:1", "version": 1, "content": "do this"}
		made := run(first["id"], body).do(t).want(t, 201, `"kind":"direct"`, `"client_id":"r:1"`, `"plan_mode":true`,
			`"replayed":false`, `"client_message_id":"r:1"`, `### Plan Comments\n\n`, `do this`, `"seq":1`)
		if at := made.Header().Get("Location"); at != p.task+"/admissions/r:1" {
			t.Errorf("Location is %s", at)
		}
		p.call("GET", p.task+"/admissions/r:1").do(t).want(t, 200, first["id"].(string))
		again := run(first["id"], body).do(t).want(t, 200, `"replayed":true`, `"kind":"direct"`)
		if again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("replay has %v", again.Header())
		}
		run(second["id"], body).do(t).wantCode(t, 409, "admission_conflict").want(t, 409, `"differing_fields":["comment_id"]`)
		run(second["id"], `{"client_admission_id":"r2","version":1}`).do(t).
			want(t, 201, `"kind":"queued"`, `"message":null`, `"position":2`, third["id"].(string))

		run(third["id"], `{"client_admission_id":"r3","version":2}`).do(t).
			wantCode(t, 409, "plan_comments_changed").want(t, 409, `"snapshot":{`, third["id"].(string))
		run(domain.NewID(), `{"client_admission_id":"r3","version":1}`).do(t).wantCode(t, 409, "plan_comments_changed")
		run("7", `{"client_admission_id":"r3","version":1}`).do(t).wantCode(t, 404, "comment_not_found")
		run(third["id"], `{"client_admission_id":"r3","version":0}`).do(t).wantField(t, "/body/version", "range")
		run(third["id"], `{"client_admission_id":"a b","version":1}`).do(t).wantField(t, "/body/client_admission_id", "format")
		run(third["id"], `{"version":1}`).do(t).wantField(t, "/body/client_admission_id", "required")
		run(third["id"], `{"client_admission_id":"r3","version":1,"model":"m"}`).do(t).wantField(t, "/body/model", "unknown")

		p.call("PATCH", "/v1/sessions/"+p.session, `{"state":"completed"}`).do(t).want(t, 200)
		run(third["id"], `{"client_admission_id":"r3","version":1}`).do(t).
			wantCode(t, 409, "session_unavailable").want(t, 409, `"reason":"terminal"`)
		p.call("PUT", p.task+"/primary-session", `{"session_id":null}`).do(t).want(t, 200)
		run(third["id"], `{"client_admission_id":"r3","version":1}`).do(t).wantCode(t, 409, "no_primary_session")
		run(first["id"], body).do(t).want(t, 200, `"kind":"direct"`)
		p.call("GET", p.task+"/admissions/r3").do(t).wantCode(t, 404, "admission_not_found")
	})
}
