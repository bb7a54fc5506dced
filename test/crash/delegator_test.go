package crash_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/test/process"
)

// delegator is an agent that has a subagent change files: it appends a message with
// the call, starts an execution, has the child append its changes, and ends it.
type delegator struct {
	*process.Scene
	random    *rand.Rand
	session   string // that delegates, of its own: executions bind to its messages
	child     string
	runs      int
	message   string
	call      string
	execution string
	paths     map[string]string   // message by path changed in the present run
	want      map[string][]string // paths by delegating message, of ended runs
	said      map[string]int64
	step      func() *change
}

func newDelegator(t *testing.T, s *process.Scene, random *rand.Rand) job {
	d := &delegator{Scene: s, random: random, want: map[string][]string{}, said: map[string]int64{}}
	d.session = s.NewSession(t)
	d.child = s.Must(t, 201, "POST", s.TaskPath("/sessions"),
		map[string]any{"kind": "subagent", "parent_session_id": d.session, "agent_type": "worker"}).Text("id")
	d.step = d.delegate
	return d
}

func (d *delegator) next() *change { return d.step() }

// then has a change be followed by a step.
func (d *delegator) then(c *change, step func() *change) *change {
	enter := c.enter
	c.enter = func(a process.Answer) {
		enter(a)
		d.step = step
	}
	return c
}

func (d *delegator) delegate() *change {
	d.runs++
	d.message, d.execution, d.call = domain.NewID(), domain.NewID(), fmt.Sprintf("call%d", d.runs)
	c := appendTo(d.Scene, d.session, []string{d.message}, []any{map[string]any{
		"id": d.message, "role": "assistant", "content": "you do it",
		"tool_calls": []any{map[string]any{"id": d.call, "name": "delegate", "arguments": "{}"}},
	}}, d.said)
	return d.then(c, d.start)
}

func (d *delegator) start() *change {
	path, id := "/v1/sessions/"+d.session+"/subagent-executions", d.execution
	return d.then(&change{
		name: "start execution", method: "POST", path: path, fresh: 201, again: 200,
		body: map[string]any{
			"id": id, "parent_tool_call_id": d.call, "child_session_id": d.child, "tool": "delegate", "parent_message_id": d.message,
		},
		happened: func(t *testing.T) bool { return d.status(t, id) != "" },
		enter:    func(process.Answer) { d.paths = map[string]string{} },
	}, d.change)
}

// change appends a message of the child with up to three changed files.
func (d *delegator) change() *change {
	id := domain.NewID()
	changes := []any{}
	var paths []string
	for i := range d.random.IntN(4) {
		path := fmt.Sprintf("run%d/%s/%d", d.runs, id, i)
		paths = append(paths, path)
		changes = append(changes, map[string]any{"path": path, "change_type": "CREATED", "before_content": "", "after_content": "a\n"})
	}
	c := appendTo(d.Scene, d.child, []string{id}, []any{map[string]any{"id": id, "role": "assistant", "content": "did it", "file_changes": changes}}, d.said)
	step := d.change
	if d.random.IntN(2) == 0 {
		step = d.end
	}
	c = d.then(c, step)
	enter := c.enter
	c.enter = func(a process.Answer) {
		enter(a)
		for _, path := range paths {
			d.paths[path] = d.message
		}
	}
	return c
}

func (d *delegator) end() *change {
	id := d.execution
	return d.then(&change{
		name: "end execution", method: "PATCH", path: "/v1/subagent-executions/" + id, fresh: 200, again: 200,
		body:     map[string]any{"status": "completed"},
		happened: func(t *testing.T) bool { return d.status(t, id) == "completed" },
		enter: func(process.Answer) {
			for path, message := range d.paths {
				d.want[message] = append(d.want[message], path)
			}
		},
	}, d.delegate)
}

// status is that of an execution, "" when there is none. It is one of the last.
func (d *delegator) status(t *testing.T, id string) string {
	t.Helper()
	for cursor := ""; ; {
		list := d.Must(t, 200, "GET", "/v1/sessions/"+d.session+"/subagent-executions?limit=200"+cursor, nil)
		for _, e := range list.Items("items") {
			if e.Text("id") == id {
				return e.Text("status")
			}
		}
		if list.Text("next_cursor") == "" {
			return ""
		}
		cursor = "&cursor=" + list.Text("next_cursor")
	}
}

func (d *delegator) check(*testing.T) {}

// finish: every change of an ended run is in the history of the parent exactly once,
// on the message that delegated it, and no change of the run that goes on.
func (d *delegator) finish(t *testing.T) {
	t.Helper()
	got := map[string]map[string]int{}
	for _, m := range history(t, d.Scene, d.session) {
		for _, c := range m.Items("file_changes") {
			if c.Text("source_type") != "SUBAGENT" || c.Text("source_session_id") != d.child {
				t.Errorf("the change %v is not of the subagent", c)
			}
			if got[m.Text("id")] == nil {
				got[m.Text("id")] = map[string]int{}
			}
			got[m.Text("id")][c.Text("path")]++
		}
	}
	want := map[string]map[string]int{}
	for message, paths := range d.want {
		want[message] = map[string]int{}
		for _, path := range paths {
			want[message][path] = 1
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes by message (-books +server)\n%s", diff)
	}
}
