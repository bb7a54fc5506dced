package handlers_test

import (
	"net/http"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

func TestTasks(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		body := map[string]any{"id": domain.NewID(), "title": "Rename the flag", "description": "in two steps"}
		made := s.call("POST", "/v1/tasks", body).as(access.ScopeUser).do(t).want(t, 201, `"archived":false`, `"primary_session_id":null`, `"change_seq":1`)
		path := made.Header().Get("Location")
		if path != "/v1/tasks/"+body["id"].(string) {
			t.Errorf("Location is %s", path)
		}
		s.call("POST", "/v1/tasks", body).do(t).want(t, 200)
		body["title"] = "other"
		s.call("POST", "/v1/tasks", body).do(t).wantCode(t, 409, "task_conflict")
		s.call("PATCH", path, `{"title":"b"}`).do(t).want(t, 200, `"title":"b"`, `"description":"in two steps"`)
		s.call("GET", path).do(t).want(t, 200, `"title":"b"`)
		s.call("GET", "/v1/tasks").do(t).want(t, 200, path[len("/v1/tasks/"):], `"next_cursor":null`)

		for name, c := range map[string]struct {
			path, body, field, code string
		}{
			"no title":       {"/v1/tasks", `{}`, "/body/title", "required"},
			"blank title":    {"/v1/tasks", `{"title":" "}`, "/body/title", "blank"},
			"unknown member": {"/v1/tasks", `{"title":"a","owner":1}`, "/body/owner", "unknown"},
			"bad id":         {"/v1/tasks", `{"title":"a","id":"7"}`, "/body/id", "format"},
			"nul":            {"/v1/tasks", `{"title":"a\u0000"}`, "/body/title", "nul"},
		} {
			t.Run(name, func(t *testing.T) { s.call("POST", c.path, c.body).do(t).wantField(t, c.field, c.code) })
		}
		s.call("PATCH", path, `{"title":null}`).do(t).wantCode(t, 422, "validation_failed")
		s.call("GET", "/v1/tasks?limit=0").do(t).wantCode(t, 422, "validation_failed")
		s.call("GET", "/v1/tasks?cursor=x").do(t).wantField(t, "/query/cursor", "format")
		s.call("GET", "/v1/tasks/7").do(t).wantCode(t, 404, "task_not_found")
	})
}

// API-22: another workspace's task reads like one that does not exist.
func TestTasksOfAnotherWorkspace(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		path, foreign := s.task(t), s.foreign[access.ScopeRunner]
		s.call("GET", path).with(foreign).do(t).wantCode(t, 404, "task_not_found")
		s.call("PATCH", path, `{"nonsense":1}`).with(foreign).do(t).wantCode(t, 404, "task_not_found")
		s.call("GET", "/v1/tasks").with(foreign).do(t).want(t, 200, `"items":[]`)
		workspaceID := s.call("GET", path).do(t).json(t)["workspace_id"].(string)
		for _, id := range []string{workspaceID, domain.NewID()} {
			s.call("GET", "/v1/tasks?workspace_id="+id).with(foreign).do(t).wantCode(t, 404, "workspace_not_found")
			s.call("POST", "/v1/tasks", map[string]any{"title": "a", "workspace_id": id}).with(foreign).do(t).wantCode(t, 404, "workspace_not_found")
		}
	})
}

func TestSessionsAndTurns(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		path := s.task(t)
		id := s.session(t, path)
		sessionPath := "/v1/sessions/" + id
		s.call("GET", path).do(t).want(t, 200, `"primary_session_id":"`+id+`"`)
		s.call("PUT", path+"/primary-session", `{"session_id":null}`).do(t).want(t, 200, `"primary_session_id":null`)
		s.call("PUT", path+"/primary-session", map[string]any{"session_id": id}).do(t).want(t, 200, id)
		s.call("PUT", path+"/primary-session", map[string]any{"session_id": domain.NewID()}).do(t).wantCode(t, 404, "session_not_found")
		s.call("GET", path+"/sessions").do(t).want(t, 200, id, `"last_seq":0`)

		s.call("PATCH", sessionPath, `{"state":"idle"}`).as(access.ScopeUser).do(t).wantCode(t, 403, "forbidden")
		s.call("PATCH", sessionPath, `{"auto_run":false}`).as(access.ScopeUser).do(t).want(t, 200, `"auto_run":false`)
		s.call("POST", sessionPath+"/turns").as(access.ScopeUser).do(t).wantCode(t, 403, "forbidden")
		turn := s.call("POST", sessionPath+"/turns").as(access.ScopeRunner).do(t).want(t, 201, `"state":"running"`).id(t)
		s.call("GET", sessionPath).do(t).want(t, 200, `"state":"running"`)
		s.call("PATCH", "/v1/turns/"+turn, `{"state":"completed"}`).as(access.ScopeRunner).do(t).want(t, 200, `"state":"completed"`)
		s.call("GET", sessionPath).do(t).want(t, 200, `"state":"waiting_for_input"`)
		s.call("GET", sessionPath+"/turns").do(t).want(t, 200, turn)
		s.call("DELETE", "/v1/turns/"+turn).do(t).want(t, http.StatusNoContent)
		s.call("DELETE", "/v1/turns/"+turn).do(t).wantCode(t, 404, "turn_not_found")
	})
}

func TestDeletion(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		path := s.task(t)
		id := s.session(t, path)
		s.call("PATCH", "/v1/sessions/"+id, `{"state":"completed"}`).as(access.ScopeRunner).do(t).want(t, 200, `"state":"completed"`)
		s.call("PATCH", "/v1/sessions/"+id, `{"state":"idle"}`).as(access.ScopeRunner).do(t).
			wantCode(t, 409, "session_unavailable").want(t, 409, `"reason":"terminal"`, `"session_state":"completed"`, id)
		s.call("DELETE", "/v1/sessions/"+id).as(access.ScopeUser).do(t).want(t, 204)
		s.call("GET", "/v1/sessions/"+id).do(t).wantCode(t, 404, "session_not_found")
		s.call("GET", path).do(t).want(t, 200, `"primary_session_id":null`)
		s.call("DELETE", path).as(access.ScopeUser).do(t).want(t, 204)
		s.call("GET", path).do(t).wantCode(t, 404, "task_not_found")
		s.call("DELETE", path).do(t).wantCode(t, 404, "task_not_found")
	})
}
