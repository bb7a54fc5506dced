package events_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"gatehouse/test/process"
)

// snapshot is what the API says of a task at once, as the client shows it.
func snapshot(t *testing.T, s *process.Scene) map[string]any {
	t.Helper()
	get := func(path string) process.Object { return s.Must(t, 200, "GET", path, nil) }
	without := func(o process.Object, names ...string) process.Object {
		for _, name := range names {
			delete(o, name)
		}
		return o
	}
	plan := get(s.TaskPath("/plan"))
	sessions := get(s.TaskPath("/sessions?limit=200")).Items("items")
	slices.SortFunc(sessions, func(a, b process.Object) int { return cmp.Compare(a.Text("created_at"), b.Text("created_at")) })
	queues, messages, executions := map[string]any{}, map[string]any{}, map[string]any{}
	for i, session := range sessions {
		id := session.Text("id")
		queues[id] = queueOf(s.Task, get(s.TaskPath("/sessions/"+id+"/queue")))
		messages[id] = transcript(t, s, id)
		for _, run := range get("/v1/sessions/" + id + "/subagent-executions").Items("items") {
			executions[run.Text("id")] = run
		}
		sessions[i] = without(session, sessionNumbers...)
	}
	return plain(t, map[string]any{
		"task": without(get(s.TaskPath("")), taskNumbers...), "sessions": sessions,
		"plan":     map[string]any{"task_id": s.Task, "plan_id": plan.Text("id"), "version": plan.Int("version")},
		"comments": s.Comments(t), "queues": queues, "messages": messages, "executions": executions,
	})
}

// What changes with other topics too, and so is not shown as it is.
var (
	taskNumbers    = []string{"change_seq", "updated_at"}
	sessionNumbers = []string{"task_id", "last_seq", "queue_revision", "updated_at"}
)

// queueOf is a queue as an event shows it.
func queueOf(task string, queue process.Object) process.Object {
	entries := []any{}
	for _, e := range queue.Items("entries") {
		text := []rune(e.Text("content"))
		entries = append(entries, map[string]any{
			"id": e["id"], "kind": e["kind"], "client_id": e["client_id"], "state": e["state"], "position": e["position"],
			"version": e["version"], "size": len(e.Text("content")), "preview": string(text[:min(280, len(text))]),
		})
	}
	queue["task_id"], queue["entries"] = task, entries
	return queue
}

// transcript is the whole one of a session, in ascending seq.
func transcript(t *testing.T, s *process.Scene, session string) []process.Object {
	t.Helper()
	all := []process.Object{}
	for after := int64(0); ; {
		page := s.Must(t, 200, "GET", fmt.Sprintf("/v1/sessions/%s/messages?limit=200&diffs=none&after=%d", session, after), nil)
		all = append(all, page.Items("messages")...)
		slices.SortFunc(all, func(a, b process.Object) int { return cmp.Compare(a.Int("seq"), b.Int("seq")) })
		if more, _ := page["has_more"].(bool); !more {
			return all
		}
		after = all[len(all)-1].Int("seq")
	}
}

// shown is the state that a client has told, without the numbers of other topics.
func shown(state map[string]any) map[string]any {
	if task, ok := state["task"].(map[string]any); ok {
		for _, name := range taskNumbers {
			delete(task, name)
		}
	}
	return state
}

// plain is v as JSON has it.
func plain(t *testing.T, v any) (read map[string]any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read
}
