package process

import (
	"testing"

	"gatehouse/domain"
)

// Scene is a task with a plan and a main session, made over HTTP.
type Scene struct {
	*Client
	Task    string // id
	Session string // id
	Plan    string // id
}

// NewScene makes one.
func (c *Client) NewScene(tb testing.TB) *Scene {
	tb.Helper()
	s := &Scene{Client: c}
	s.Task = c.Must(tb, 201, "POST", "/v1/tasks", map[string]any{"title": "a task"}).Text("id")
	s.Session = s.NewSession(tb)
	s.Plan = c.Must(tb, 200, "PUT", s.TaskPath("/plan"), map[string]any{"content": "the plan"}).Text("id")
	return s
}

// TaskPath is a path below the task.
func (s *Scene) TaskPath(rest string) string { return "/v1/tasks/" + s.Task + rest }

// SessionPath is a path below the session.
func (s *Scene) SessionPath(rest string) string { return "/v1/sessions/" + s.Session + rest }

// NewSession makes a further main session and returns its id.
func (s *Scene) NewSession(tb testing.TB) string {
	tb.Helper()
	return s.Must(tb, 201, "POST", s.TaskPath("/sessions"), map[string]any{"kind": "main"}).Text("id")
}

// Comment is the body of a request for a new comment.
func (s *Scene) Comment() map[string]any {
	return map[string]any{
		"id": domain.NewID(), "plan_id": s.Plan, "body": "why?", "selected_text": "step one", "anchor_from": 1, "anchor_to": 9,
	}
}

// NewComment adds a comment and returns its reference as a prompt names it.
func (s *Scene) NewComment(tb testing.TB) map[string]any {
	tb.Helper()
	body := s.Comment()
	s.Must(tb, 201, "POST", s.TaskPath("/plan/comments"), body)
	return map[string]any{"id": body["id"], "version": 1}
}

// Comments is the snapshot of the pending comments.
func (s *Scene) Comments(tb testing.TB) Object {
	tb.Helper()
	return s.Must(tb, 200, "GET", s.TaskPath("/plan/comments"), nil)
}
