package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// transcript is a task with a main session and a subagent session below it.
type transcript struct {
	*stack
	session string // path
	main    string // id
	child   string // id
}

func eachTranscript(t *testing.T, f func(t *testing.T, s *transcript)) {
	eachStack(t, func(t *testing.T, s *stack) {
		task := s.task(t)
		main := s.session(t, task)
		child := s.call("POST", task+"/sessions", map[string]any{
			"kind": "subagent", "parent_session_id": main, "agent_type": "coder",
		}).do(t).want(t, 201).id(t)
		f(t, &transcript{s, "/v1/sessions/" + main, main, child})
	})
}

// appendTo appends messages to a session as a runner.
func (s *transcript) appendTo(session string, messages ...any) *call {
	return s.call("POST", "/v1/sessions/"+session+"/messages", map[string]any{"messages": messages}).as(access.ScopeRunner)
}

// delegate has the main session delegate to the child, which changes a file, and
// returns the path of the execution.
func (s *transcript) delegate(t *testing.T) string {
	t.Helper()
	s.appendTo(s.main,
		map[string]any{"role": "user", "content": "go on"},
		map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "call_0", "name": "Task", "arguments": "{}"}}},
	).do(t).want(t, 200)
	started := s.call("POST", s.session+"/subagent-executions", map[string]any{
		"parent_tool_call_id": "call_0", "child_session_id": strings.ToUpper(s.child), "tool": "Task",
	}).as(access.ScopeRunner).do(t).want(t, 201, `"status":"running"`, `"start_message_seq":0`, `"agent_type":"coder"`)
	path := started.Header().Get("Location")
	s.appendTo(s.child, map[string]any{"role": "assistant", "file_changes": []any{
		map[string]any{"path": "a.go", "change_type": "CREATED", "after_content": "a\nb\n", "patch": nil},
	}}).do(t).want(t, 200)
	return path
}

// HI-9, API-2, API-23, API-24 as a runner sees them.
func TestAppendMessages(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		message := map[string]any{"id": domain.NewID(), "role": "user", "content": "a\x00", "metadata": map[string]any{"n": 1.5}}
		s.appendTo(s.main, message).do(t).want(t, 200, `"seq":1`, `"status":"created"`, `"last_seq":1`)
		message["id"] = strings.ToUpper(message["id"].(string))
		s.appendTo(s.main, message).do(t).want(t, 200, `"seq":1`, `"status":"replayed"`)
		message["content"] = "b"
		s.appendTo(s.main, map[string]any{"role": "user"}, message).do(t).wantCode(t, 409, "message_conflict")
		s.call("GET", s.session+"/messages").as(access.ScopeUser).do(t).want(t, 200, `"content":"a`+"\ufffd"+`"`, `"sanitized":true`, `"last_seq":1`, `"n":1.5`)

		s.appendTo(s.main, map[string]any{"role": "user", "turn_id": domain.NewID()}).do(t).wantCode(t, 404, "turn_not_found")
		s.appendTo(domain.NewID(), map[string]any{"role": "user"}).do(t).wantCode(t, 404, "session_not_found")
		s.appendTo(s.main).do(t).wantCode(t, 422, "validation_failed")
		s.appendTo(s.main, map[string]any{"role": "user", "metadata": map[string]any{"status": "x"}}).do(t).
			wantField(t, "/body/messages/0/metadata/status", "reserved")
		s.appendTo(s.main, map[string]any{"role": "user", "file_changes": []any{map[string]any{"path": "", "change_type": "CREATED"}}}).do(t).
			wantField(t, "/body/messages/0/file_changes/0/path", "blank")
		s.appendTo(s.main, map[string]any{"role": "user"}).as(access.ScopeUser).do(t).wantCode(t, 403, "forbidden")
		s.appendTo(s.main, map[string]any{"role": "user"}).with(s.foreign[access.ScopeRunner]).do(t).wantCode(t, 404, "session_not_found")
	})
}

// API-5, API-24, HI-4: a message changes, and goes.
func TestEditMessages(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		made := s.appendTo(s.main, map[string]any{"role": "assistant", "thinking": "hm", "metadata": map[string]any{"a": 1}}).do(t).want(t, 200)
		message := "/v1/messages/" + made.text(t, "results", 0, "id")
		edit := func(body any) *answer { return s.call("PATCH", message, body).as(access.ScopeRunner).do(t) }
		edit(map[string]any{"content": "new"}).want(t, 200, `"content":"new"`, `"thinking":"hm"`, `"a":1`)
		edit(map[string]any{"thinking": nil, "metadata": map[string]any{"b": 2}}).want(t, 200, `"thinking":null`, `"metadata":{"b":2}`)
		edit(map[string]any{"content": nil}).wantCode(t, 422, "validation_failed")
		edit(map[string]any{"metadata": map[string]any{"normalized": 1}}).wantField(t, "/body/metadata/normalized", "reserved")

		s.call("POST", s.session+"/messages/rollback", `{"from_seq": 1}`).as(access.ScopeRunner).do(t).want(t, 200, `"deleted":1`, `"last_seq":1`)
		edit(map[string]any{"content": "late"}).wantCode(t, 404, "message_not_found")
		s.call("GET", s.session+"/messages").do(t).want(t, 200, `"messages":[]`, `"last_seq":1`, `"next_before":null`)
	})
}

// HI-1, HI-2, HI-10, API-8, API-23 as a runner sees them.
func TestExecutions(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		path := s.delegate(t)
		start := func(body map[string]any) *answer {
			return s.call("POST", s.session+"/subagent-executions", body).as(access.ScopeRunner).do(t)
		}
		again := map[string]any{"id": domain.NewID(), "parent_tool_call_id": "call_0", "child_session_id": s.child, "tool": "Task"}
		start(again).wantCode(t, 409, "execution_running")
		end := func(status string) *answer {
			return s.call("PATCH", path, map[string]any{"status": status}).as(access.ScopeRunner).do(t)
		}
		end("running").wantCode(t, 422, "validation_failed")
		end("completed").want(t, 200, `"status":"completed"`, `"end_message_seq":1`)
		end("failed").want(t, 200, `"status":"completed"`)

		start(again).want(t, 201, `"start_message_seq":1`, `"parent_message_id":null`)
		start(again).want(t, 200)
		again["tool"] = "Agent"
		start(again).wantCode(t, 409, "execution_conflict")
		again["id"], again["child_session_id"] = domain.NewID(), s.main
		start(again).wantCode(t, 404, "session_not_found")
		s.call("PATCH", "/v1/subagent-executions/"+domain.NewID(), `{"status": "failed"}`).do(t).wantCode(t, 404, "execution_not_found")
		s.call("GET", s.session+"/subagent-executions?limit=1").as(access.ScopeUser).do(t).want(t, 200, `"parent_tool_call_id":"call_0"`, `"next_cursor":"`)
	})
}

// HI-20 to HI-26 as a client sees them.
func TestHistory(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		path := s.delegate(t)
		s.call("PATCH", path, `{"status": "completed"}`).do(t).want(t, 200)
		page := s.call("GET", s.session+"/messages").as(access.ScopeUser).do(t).want(t, 200,
			`"source_type":"SUBAGENT"`, `"source_agent_type":"coder"`, `"after_content":"a\nb\n"`, `"lines_added":2`, `"has_more":false`)
		if got := page.at(t, "messages", 0, "file_changes"); fmt.Sprint(got) != "[]" {
			t.Errorf("first message changes %v", got)
		}
		admin := s.call("GET", "/v1/admin/sessions/"+s.main+"/messages").do(t).want(t, 200)
		if admin.Body.String() != page.Body.String() {
			t.Errorf("an admin reads %s", admin.Body)
		}
		s.call("GET", "/v1/admin/sessions/"+s.main+"/messages").as(access.ScopeRunner).do(t).wantCode(t, 403, "forbidden")
		s.call("GET", s.session+"/messages?diffs=none").do(t).want(t, 200, `"after_content":null`, `"diff_omitted":true`)
		s.call("GET", s.session+"/messages?limit=1&before=-5").do(t).want(t, 200, `"messages":[]`)
		s.call("GET", s.session+"/messages?limit=1&after=1").do(t).want(t, 200, `"seq":2`, `"next_before":2`)
		s.call("GET", s.session+"/messages?limit=1&rounds=1").do(t).wantField(t, "/query/limit", "contradictory")
		s.call("GET", s.session+"/messages?before=1&after=1").do(t).wantField(t, "/query/after", "contradictory")

		change := page.text(t, "messages", 1, "file_changes", 0, "id")
		s.call("GET", "/v1/file-changes/"+change).as(access.ScopeUser).do(t).want(t, 200, `"after_content":"a\nb\n"`, s.child)
		s.call("GET", "/v1/file-changes/"+domain.NewID()).do(t).wantCode(t, 404, "file_change_not_found")
		s.call("GET", s.session+"/rounds").as(access.ScopeUser).do(t).want(t, 200,
			`"first_seq":1`, `"messages":2`, `"subagents":1`, `"state":"completed"`, `"content":"go on"`, `"sources":[{`)
		s.call("GET", s.session+"/rounds?limit=51").do(t).wantCode(t, 422, "validation_failed")
		s.call("GET", s.session+"/file-changes?limit=1").as(access.ScopeUser).do(t).want(t, 200, `"path_key":"a.go"`, `"next_cursor":null`)
		s.call("GET", s.session+"/file-changes?cursor=x").do(t).wantField(t, "/query/cursor", "format")
	})
}
