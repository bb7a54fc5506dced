package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db/dbtest"
	"gatehouse/domain/access"
)

// crowd changes one task at random, through two servers that tell each other nothing.
type crowd struct {
	*rand.Rand

	t      *testing.T
	stacks []*stack
	w      *stamping
	n      int
}

func (c *crowd) any() *stack { return c.stacks[c.IntN(len(c.stacks))] }

// asks sends a request that may be refused, and returns the answer.
func (c *crowd) asks(method, path string, body ...any) *answer {
	c.t.Helper()
	a := c.any().call(method, path, body...).as(access.ScopeRunner).do(c.t)
	if a.Code >= 500 {
		c.t.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
	}
	return a
}

// pick is one of the items at a path of a list, nil when there is none.
func (c *crowd) pick(list, path string) map[string]any {
	items, _ := c.asks("GET", path).at(c.t, list).([]any)
	if len(items) == 0 {
		return nil
	}
	return items[c.IntN(len(items))].(map[string]any)
}

// session is the id of some session.
func (c *crowd) session() string {
	if s := c.pick("items", c.w.task+"/sessions"); s != nil {
		return s["id"].(string)
	}
	return c.w.session
}

func (c *crowd) name() string {
	c.n++
	return fmt.Sprintf("n%d", c.n)
}

// moves are what somebody may do.
var moves = []func(c *crowd){
	func(c *crowd) { c.asks("PATCH", c.w.task, map[string]any{"title": c.name()}) },
	func(c *crowd) { c.asks("PUT", c.w.task+"/plan", map[string]any{"content": c.name()}) },
	func(c *crowd) {
		if c.IntN(3) == 0 {
			c.asks("DELETE", c.w.task+"/plan")
		}
	},
	func(c *crowd) {
		body := c.w.comment()
		body["plan_id"] = c.asks("GET", c.w.task+"/plan").text(c.t, "id")
		c.asks("POST", c.w.task+"/plan/comments", body)
	},
	func(c *crowd) {
		if made := c.pick("comments", c.w.task+"/plan/comments"); made != nil {
			c.asks("PATCH", c.w.task+"/plan/comments/"+made["id"].(string), map[string]any{
				"plan_id": made["plan_id"], "expected_version": made["version"], "body": c.name(),
			})
		}
	},
	func(c *crowd) {
		if made := c.pick("comments", c.w.task+"/plan/comments"); made != nil {
			c.asks("POST", c.w.task+"/plan/comments/"+made["id"].(string)+"/run", map[string]any{
				"client_admission_id": c.name(), "version": made["version"],
			})
		}
	},
	func(c *crowd) { c.asks("POST", c.w.task+"/sessions", `{"kind":"main"}`) },
	func(c *crowd) {
		c.asks("POST", c.w.task+"/sessions", map[string]any{"kind": "subagent", "parent_session_id": c.session()})
	},
	func(c *crowd) {
		if c.IntN(2) == 0 {
			c.asks("DELETE", "/v1/sessions/"+c.session())
		}
	},
	func(c *crowd) { c.asks("POST", "/v1/sessions/"+c.session()+"/reset", `{}`) },
	func(c *crowd) {
		patch := []string{`{"state":"idle"}`, `{"state":"completed"}`, `{"auto_run":false}`, `{"auto_run":true}`}
		c.asks("PATCH", "/v1/sessions/"+c.session(), patch[c.IntN(len(patch))])
	},
	func(c *crowd) {
		c.asks("PUT", c.w.task+"/primary-session", map[string]any{"session_id": c.session()})
	},
	func(c *crowd) {
		c.asks("POST", c.w.task+"/sessions/"+c.session()+"/queue", map[string]any{"client_queue_id": c.name(), "content": c.name()})
	},
	func(c *crowd) {
		c.asks("POST", c.w.task+"/sessions/"+c.session()+"/prompts", map[string]any{"client_message_id": c.name(), "content": c.name()})
	},
	func(c *crowd) {
		path := c.w.task + "/sessions/" + c.session() + "/queue"
		if e := c.pick("entries", path); e != nil {
			c.asks("PATCH", path+"/"+e["id"].(string), map[string]any{"content": c.name(), "expected_version": e["version"]})
		}
	},
	func(c *crowd) {
		path := c.w.task + "/sessions/" + c.session() + "/queue"
		if e := c.pick("entries", path); e != nil {
			c.asks("DELETE", path+"/"+e["id"].(string))
		}
	},
	func(c *crowd) {
		path := c.w.task + "/sessions/" + c.session() + "/queue"
		c.asks("POST", path+"/send-now", map[string]any{
			"expected_queue_revision": c.asks("GET", path).number(c.t, "queue_revision"), "interrupt": true,
		})
	},
	func(c *crowd) {
		a := c.asks("POST", "/v1/sessions/"+c.session()+"/deliveries/reserve", `{}`)
		if a.Code != 200 {
			return
		}
		path, token := "/v1/deliveries/"+a.text(c.t, "delivery", "id"), map[string]any{"token": a.text(c.t, "token")}
		if c.IntN(3) == 0 {
			c.asks("POST", path+"/release", token)
			return
		}
		c.asks("POST", path+"/attempt", token)
		outcomes := []string{"succeeded", "failed", "unknown"}
		c.asks("POST", path+"/acknowledge", withOutcome(token, outcomes[c.IntN(3)]))
	},
	func(c *crowd) { c.asks("POST", "/v1/sessions/"+c.session()+"/turns", `{}`) },
	func(c *crowd) {
		if turn := c.pick("items", "/v1/sessions/"+c.session()+"/turns"); turn != nil {
			c.asks("PATCH", "/v1/turns/"+turn["id"].(string), `{"state":"completed"}`)
		}
	},
	func(c *crowd) {
		c.asks("POST", "/v1/sessions/"+c.session()+"/messages",
			`{"messages":[{"role":"assistant","content":"x","tool_calls":[{"id":"c","name":"delegate","arguments":"{}"}]}]}`)
	},
	func(c *crowd) { c.asks("POST", "/v1/sessions/"+c.session()+"/messages/rollback", `{"from_seq":2}`) },
	func(c *crowd) {
		for range 5 { // until it is a child
			if s := c.pick("items", c.w.task+"/sessions"); s != nil && s["kind"] == "subagent" {
				c.asks("POST", "/v1/sessions/"+s["parent_session_id"].(string)+"/subagent-executions", map[string]any{
					"parent_tool_call_id": "c", "child_session_id": s["id"], "tool": "delegate",
				})
				return
			}
		}
	},
	func(c *crowd) {
		for range 5 { // until it delegated
			if e := c.pick("items", "/v1/sessions/"+c.session()+"/subagent-executions"); e != nil {
				c.asks("PATCH", "/v1/subagent-executions/"+e["id"].(string), `{"status":"completed"}`)
				return
			}
		}
	},
}

// cut takes in what a stream of some server owes, up to a random event, and returns the
// last id that was seen then.
func (c *crowd) cut(v view, since string) string {
	events := c.any().connect(c.t, c.w.task, since)
	if len(events) > 0 {
		events = events[:c.IntN(len(events)+1)]
	}
	for _, e := range events {
		v.see(c.t, e)
		if e.id != "" {
			since = e.id
		}
	}
	return since
}

// EV-1, EV-4: a client that is cut off anywhere, again and again, and comes back to
// another server each time, ends with what a new one gets.
func TestCutAnywhere(t *testing.T) {
	const tasks, steps = 10, 80
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		first, second := twoStacks(t, newURL(t))
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		for i := range uint64(tasks) {
			c := &crowd{Rand: rand.New(rand.NewPCG(seed, i)), t: t, stacks: []*stack{first, second}, w: newStamping(t, first)}
			v, since := view{}, ""
			for range steps {
				moves[c.IntN(len(moves))](c)
				if c.IntN(2) == 0 {
					since = c.cut(v, since)
				}
			}
			for _, e := range c.any().connect(t, c.w.task, since) {
				v.see(t, e)
			}
			fresh := view{}
			for _, e := range c.any().connect(t, c.w.task, "") {
				fresh.see(t, e)
			}
			if diff := cmp.Diff(fresh, v); diff != "" {
				t.Fatalf("task %d (-fresh +cut):\n%s", i, strings.ReplaceAll(diff, `\"`, `"`))
			}
		}
	})
}
