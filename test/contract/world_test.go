package contract_test

import (
	"testing"

	"pgregory.net/rapid"

	"gatehouse/domain"
	"gatehouse/test/process"
)

// world knows ids that exist, by the name that a path or a body has for them, so that
// generated requests get past the look-up.
type world struct {
	ids  map[string][]string
	gone bool // something of it was destroyed
}

func newWorld() *world { return &world{ids: map[string][]string{}} }

// kept is how many ids of a kind are remembered.
const kept = 4

// id is one of the ids of a name, "" when the name is that of none.
func (w *world) id(g *generator, name string) string {
	ids := w.ids[name]
	if len(ids) == 0 {
		return ""
	}
	return ids[rapid.IntRange(0, kept-1).Draw(g.t, name)%len(ids)]
}

func (w *world) add(name, id string) {
	if id == "" {
		return
	}
	w.ids[name] = append(w.ids[name], id)
	if n := len(w.ids[name]); n > kept {
		w.ids[name] = w.ids[name][n-kept:]
	}
}

// settle makes a fresh world, all of it below one task, that what was remembered is
// replaced by.
func (w *world) settle(t *testing.T, client *process.Client) {
	t.Helper()
	w.gone = false
	w.ids = map[string][]string{
		"version": {"1", "2"}, "client_id": {"a", "b"},
		"comment_id": {domain.NewID()}, "delivery_id": {domain.NewID()}, "message_id": {domain.NewID()},
	}
	s := client.NewScene(t)
	child := s.Must(t, 201, "POST", s.TaskPath("/sessions"), map[string]any{"kind": "subagent", "parent_session_id": s.Session}).Text("id")
	w.add("task_id", s.Task)
	w.add("plan_id", s.Plan)
	w.add("session_id", s.Session)
	w.add("session_id", child)
	w.add("session_id", s.NewSession(t))
	w.add("child_session_id", child)
	w.add("parent_session_id", s.Session)
	w.add("comment_id", s.NewComment(t)["id"].(string))
	admission := s.Must(t, 201, "POST", s.TaskPath("/sessions/"+s.Session+"/prompts"), map[string]any{"client_message_id": "a", "content": "go on"})
	w.add("delivery_id", admission.Text("delivery.id"))
	reservation := s.Must(t, 200, "POST", s.SessionPath("/deliveries/reserve"), nil)
	w.add("token", reservation.Text("token"))
	w.add("turn_id", s.Must(t, 201, "POST", "/v1/sessions/"+child+"/turns", map[string]any{}).Text("id"))
	w.add("subagent_execution_id", s.Must(t, 201, "POST", s.SessionPath("/subagent-executions"),
		map[string]any{"parent_tool_call_id": "call", "child_session_id": child, "tool": "delegate"}).Text("id"))
	s.Must(t, 200, "POST", s.SessionPath("/messages"), map[string]any{"messages": []any{map[string]any{
		"role": "assistant", "content": "done",
		"file_changes": []any{map[string]any{"path": "a", "change_type": "CREATED", "before_content": "", "after_content": "x"}},
	}}})
	page := s.Must(t, 200, "GET", s.SessionPath("/messages"), nil)
	for _, m := range page.Items("messages") {
		w.add("message_id", m.Text("id"))
		for _, c := range m.Items("file_changes") {
			w.add("change_id", c.Text("id"))
		}
	}
	w.add("workspace_id", s.Must(t, 200, "GET", s.TaskPath(""), nil).Text("workspace_id"))
	w.add("token_id", s.Must(t, 201, "POST", "/v1/tokens", map[string]any{"scope": "user"}).Text("id"))
}

// learn remembers what an operation made or found.
func (w *world) learn(op *operation, o process.Object) {
	if o == nil || o.Text("code") != "" {
		return
	}
	for made, name := range map[string]string{
		"createSession": "session_id", "startTurn": "turn_id",
		"startExecution": "subagent_execution_id", "createToken": "token_id", "savePlan": "plan_id",
	} {
		if op.spec.OperationID == made {
			w.add(name, o.Text("id"))
		}
	}
	w.add("delivery_id", o.Text("delivery.id"))
	w.add("client_id", o.Text("delivery.client_id"))
	if o.Text("lease_expires_at") != "" {
		w.add("token", o.Text("token"))
	}
	for _, c := range o.Items("comments") {
		w.add("comment_id", c.Text("id"))
	}
	for _, m := range o.Items("messages") {
		w.add("message_id", m.Text("id"))
	}
	w.add("cursor", o.Text("next_cursor"))
}
