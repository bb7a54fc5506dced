package events_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// longestStream is after how many bytes a stream is cut at the latest. Every event of
// this suite is shorter.
const longestStream = 12 << 10

// EV-1, EV-2, EV-3, EV-8, API-10: whatever cuts the streams, in Node and in a page of
// another origin, the client ends with what a fresh reader sees.
func TestClientMissesNothing(t *testing.T) {
	seed := process.Number(t, "GATEHOUSE_TEST_SEED", rand.Uint64())
	t.Logf("GATEHOUSE_TEST_SEED=%d", seed)
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		d := newDesk(t, newURL(t), seed)
		d.agree(t)
		for _, p := range d.proxies {
			p.cut(longestStream)
		}
		for range 2 {
			d.commentOnPlan(t)
			d.agree(t)
		}
		d.prompt(t)
		d.agree(t)
		d.replaceServer(t)
		d.work(t)
		d.delegate(t)
		d.agree(t)
		d.takeBack(t)
		d.replaceServer(t)
		d.replacePlan(t)
		d.agree(t)
		for _, p := range d.proxies {
			p.judge(t)
		}
	})
}

// desk is a task that two clients follow, each through a proxy of its own.
type desk struct {
	*process.Scene

	database  string
	args      []string
	servers   []*process.Server // the first of them is in use; SQLite has no other
	followers map[string]*follower
	proxies   map[string]*proxy
	comment   map[string]any // one of several
}

func newDesk(t *testing.T, database string, seed uint64) *desk {
	t.Helper()
	node, page := newFollower(t), newFollower(t)
	d := &desk{database: database, args: []string{"--cors-origins=" + page.URL}, proxies: map[string]*proxy{}}
	d.followers = map[string]*follower{"node": node, "chromium": page}
	d.servers = append(d.servers, process.Start(t, database, d.args...))
	if !strings.HasPrefix(database, "sqlite:") {
		d.servers = append(d.servers, process.Start(t, database, d.args...))
	}
	d.Scene = d.servers[0].NewScene(t)
	d.comment = d.NewComment(t)
	for name := range d.followers {
		d.proxies[name] = newProxy(t, d.URL, seed)
	}
	node.inNode(t, d.proxies["node"].URL, d.Task, nil)
	page.inChromium(t, d.proxies["chromium"].URL, d.Task, nil)
	return d
}

// replaceServer kills the server in use (kill -9). The other one goes on, or, where
// there is none, one that is started now.
func (d *desk) replaceServer(t *testing.T) {
	t.Helper()
	d.servers[0].Kill()
	d.servers = append(d.servers[1:], process.Start(t, d.database, d.args...))
	d.Client = d.servers[0].Client
	for _, p := range d.proxies {
		p.use(t, d.URL)
	}
}

// agree waits until both clients show what the API says.
func (d *desk) agree(t *testing.T) {
	t.Helper()
	want := snapshot(t, d.Scene)
	for name, f := range d.followers {
		var diff string
		t.Cleanup(func() {
			if diff != "" {
				t.Errorf("%s (-wanted +shown)\n%s", name, diff)
			}
		})
		eventually(t, name+" shows the task", func() bool {
			last := f.last()
			if last.Ended != nil {
				t.Fatalf("%s ended: %+v", name, *last.Ended)
			}
			diff = cmp.Diff(want, shown(last.State))
			return diff == ""
		})
	}
}

// commentOnPlan makes, edits and deletes comments.
func (d *desk) commentOnPlan(t *testing.T) {
	t.Helper()
	for range 4 {
		d.NewComment(t)
	}
	edited, deleted := d.NewComment(t), d.NewComment(t)
	d.Must(t, 200, "PATCH", d.TaskPath(fmt.Sprintf("/plan/comments/%s", edited["id"])),
		map[string]any{"plan_id": d.Plan, "expected_version": 1, "body": "größer, 🦊?\r\n\r\nid: 1\n\n"})
	d.Must(t, 200, "DELETE", d.TaskPath(fmt.Sprintf("/plan/comments/%s?plan_id=%s&expected_version=1", deleted["id"], d.Plan)), nil)
}

// prompt admits a prompt that takes a comment along, and queues others.
func (d *desk) prompt(t *testing.T) {
	t.Helper()
	session := d.TaskPath("/sessions/" + d.Session)
	d.Must(t, 201, "POST", session+"/prompts",
		map[string]any{"client_message_id": "direct", "content": "Go on.", "plan_comment_refs": []any{d.comment}})
	for i := range 5 {
		d.Must(t, 201, "POST", session+"/queue",
			map[string]any{"client_queue_id": fmt.Sprintf("q%d", i), "content": strings.Repeat("✔ and then ", 40)})
	}
}

// work delivers the direct prompt and fills the transcript over more than a page.
func (d *desk) work(t *testing.T) {
	t.Helper()
	reserved := d.Must(t, 200, "POST", d.SessionPath("/deliveries/reserve"), nil)
	delivery := "/v1/deliveries/" + reserved.Text("delivery.id")
	token := map[string]any{"token": reserved.Text("token")}
	turn := d.Must(t, 200, "POST", delivery+"/attempt", token).Text("turn_id")
	d.Must(t, 200, "POST", delivery+"/acknowledge", map[string]any{"token": reserved.Text("token"), "outcome": "succeeded"})
	for range 3 {
		d.say(t, 70)
	}
	d.Must(t, 200, "PATCH", "/v1/turns/"+turn, map[string]any{"state": "completed"})
}

// say appends messages.
func (d *desk) say(t *testing.T, n int) []process.Object {
	t.Helper()
	said := make([]any, n)
	for i := range said {
		said[i] = map[string]any{"role": "assistant", "content": fmt.Sprintf("thought %d", i)}
	}
	return d.Must(t, 200, "POST", d.SessionPath("/messages"), map[string]any{"messages": said}).Items("results")
}

// delegate runs a subagent that changes a file, and another one that goes on.
func (d *desk) delegate(t *testing.T) {
	t.Helper()
	for _, call := range []string{"ends", "runs"} {
		child := d.Must(t, 201, "POST", d.TaskPath("/sessions"), map[string]any{"kind": "subagent", "parent_session_id": d.Session}).Text("id")
		d.Must(t, 200, "POST", d.SessionPath("/messages"), map[string]any{"messages": []any{
			map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": call, "name": "Task", "arguments": "{}"}}},
		}})
		run := d.Must(t, 201, "POST", d.SessionPath("/subagent-executions"),
			map[string]any{"parent_tool_call_id": call, "child_session_id": child, "tool": "Task"}).Text("id")
		if call == "ends" {
			d.Must(t, 200, "POST", "/v1/sessions/"+child+"/messages", map[string]any{"messages": []any{map[string]any{
				"role": "assistant", "content": "done",
				"file_changes": []any{map[string]any{"path": "a.go", "change_type": "CREATED", "after_content": "package a\n"}},
			}}})
			d.Must(t, 200, "PATCH", "/v1/subagent-executions/"+run, map[string]any{"status": "completed"})
		}
		d.Must(t, 200, "POST", d.SessionPath("/messages"),
			map[string]any{"messages": []any{map[string]any{"role": "tool", "tool_call_id": call, "content": "well"}}})
	}
}

// takeBack corrects a message that was read, takes back more than the client reads again, and has a
// session come and go.
func (d *desk) takeBack(t *testing.T) {
	t.Helper()
	said := d.say(t, 120)
	d.agree(t)
	d.Must(t, 200, "PATCH", "/v1/messages/"+said[100].Text("id"), map[string]any{"content": "on second thoughts"})
	d.agree(t)
	d.Must(t, 200, "POST", d.SessionPath("/messages/rollback"), map[string]any{"from_seq": said[10].Int("seq")})
	other := d.NewSession(t)
	d.agree(t)
	d.Must(t, 204, "DELETE", "/v1/sessions/"+other, nil)
}

// replacePlan has a new plan, which is saved again after it was commented on: who comes
// later is sent the comments before the plan.
func (d *desk) replacePlan(t *testing.T) {
	t.Helper()
	for _, p := range d.proxies {
		p.CloseClientConnections()
	}
	d.Must(t, 204, "DELETE", d.TaskPath("/plan"), nil)
	d.Plan = d.Must(t, 200, "PUT", d.TaskPath("/plan"), map[string]any{"content": "another plan"}).Text("id")
	d.NewComment(t)
	d.Must(t, 200, "PUT", d.TaskPath("/plan"), map[string]any{"content": "another plan, and more"})
}
