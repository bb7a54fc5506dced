package handlers_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/feed"
	"gatehouse/gen"
)

// stamps are the numbers of a task's topics: those of a session behind its id.
type stamps struct {
	number int64
	of     map[string]int64
}

func stampsOf(t *testing.T, s *stack, taskID string) stamps {
	t.Helper()
	var found stamps
	err := s.store.Feed().InRead(t.Context(), func(ctx context.Context, tx feed.ReadTx) error {
		task, err := tx.Task(ctx, taskID)
		if err != nil {
			return err
		}
		found = stamps{task.ChangeSeq, map[string]int64{"task": task.TaskSeq, "plan": task.PlanSeq, "comments": task.CommentsSeq}}
		sessions, err := tx.TaskSessions(ctx, taskID)
		for _, s := range sessions {
			maps.Copy(found.of, map[string]int64{
				s.ID + " queue": s.QueueSeq, s.ID + " messages": s.MessagesSeq,
				s.ID + " executions": s.ExecutionsSeq, s.ID + " interrupt": s.InterruptSeq,
			})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// touched are the topics that the last change stamped; a topic that is new and has no
// stamp is none of them.
func (s stamps) touched(t *testing.T, before stamps) []string {
	t.Helper()
	var topics []string
	for topic, seq := range s.of {
		switch {
		case seq == s.number && s.number != before.number:
			topics = append(topics, topic)
		case seq != before.of[topic]:
			t.Errorf("%s went from %d to %d with change %d", topic, before.of[topic], seq, s.number)
		}
	}
	slices.Sort(topics)
	return topics
}

// stamping is a world in which one operation is called.
type stamping struct {
	*stack
	t       *testing.T
	taskID  string
	task    string // path
	session string // id
	child   string // id of a subagent session of it
	made    string // id of a session that the operation makes
	planID  string
}

func newStamping(t *testing.T, s *stack) *stamping {
	t.Helper()
	w := &stamping{stack: s, t: t, made: domain.NewID()}
	w.task = s.task(t)
	w.taskID = w.task[len("/v1/tasks/"):]
	w.session = s.session(t, w.task)
	w.child = w.does(201, "POST", w.task+"/sessions", map[string]any{"kind": "subagent", "parent_session_id": w.session}).id(t)
	w.planID = w.does(200, "PUT", w.task+"/plan", `{"content":"one"}`).id(t)
	return w
}

// runner is a call of a runner, which is not made yet.
func (w *stamping) runner(method, path string, body ...any) *call {
	return w.call(method, path, body...).as(access.ScopeRunner)
}

// does prepares something.
func (w *stamping) does(status int, method, path string, body ...any) *answer {
	w.t.Helper()
	return w.runner(method, path, body...).do(w.t).want(w.t, status)
}

func (w *stamping) ofSession() string { return "/v1/sessions/" + w.session }

func (w *stamping) queue() string { return w.task + "/sessions/" + w.session + "/queue" }

func (w *stamping) comment() map[string]any {
	return map[string]any{
		"id": domain.NewID(), "plan_id": w.planID, "body": "b", "selected_text": "o", "anchor_from": 0, "anchor_to": 1,
	}
}

// commented makes a comment and returns its path.
func (w *stamping) commented() (path string) {
	c := w.comment()
	w.does(201, "POST", w.task+"/plan/comments", c)
	return w.task + "/plan/comments/" + c["id"].(string)
}

// queued makes an entry of the queue and returns its id.
func (w *stamping) queued(id string) string {
	return w.does(201, "POST", w.queue(), map[string]any{"client_queue_id": id, "content": "x"}).text(w.t, "delivery", "id")
}

// reserved makes a delivery that a runner has, and returns its path and token.
func (w *stamping) reserved() (path string, token map[string]any) {
	w.queued("q")
	a := w.does(200, "POST", w.ofSession()+"/deliveries/reserve", `{}`)
	return "/v1/deliveries/" + a.text(w.t, "delivery", "id"), map[string]any{"token": a.text(w.t, "token")}
}

func (w *stamping) attempted() (path string, token map[string]any) {
	path, token = w.reserved()
	w.does(200, "POST", path+"/attempt", token)
	return path, token
}

func (w *stamping) turn() string {
	return "/v1/turns/" + w.does(201, "POST", w.ofSession()+"/turns", `{}`).id(w.t)
}

func (w *stamping) message() string {
	return "/v1/messages/" + w.does(200, "POST", w.ofSession()+"/messages", `{"messages":[{"role":"assistant","content":"x"}]}`).
		text(w.t, "results", 0, "id")
}

func (w *stamping) execution() map[string]any {
	return map[string]any{"parent_tool_call_id": "c", "child_session_id": w.child, "tool": "delegate"}
}

func (w *stamping) started() string {
	return "/v1/subagent-executions/" + w.does(201, "POST", w.ofSession()+"/subagent-executions", w.execution()).id(w.t)
}

// withOutcome is the body of an acknowledgement.
func withOutcome(token map[string]any, outcome string) map[string]any {
	return map[string]any{"token": token["token"], "outcome": outcome}
}

// stampCase calls an operation: what it prepares first is not counted. It says which
// topics are touched, those of a session behind "session", "child" or "made", or why
// none is.
type stampCase struct {
	call   func(w *stamping) *call
	topics []string
	none   string
}

// stampCases are the operations that are no reading, each in every way that touches
// other topics.
var stampCases = map[string][]stampCase{
	"createWorkspace": {{none: "a workspace is below no task"}},
	"createToken":     {{none: "a token is below no task"}},
	"revokeToken":     {{none: "a token is below no task"}},
	"createTask":      {{none: "nobody follows a task that is not there; see TestCreateTaskStamps"}},
	"deleteTask":      {{none: "its numbers go with it; streams end"}},

	"updateTask": {{call: func(w *stamping) *call { return w.runner("PATCH", w.task, `{"title":"u"}`) }, topics: []string{"task"}}},
	"setPrimarySession": {{call: func(w *stamping) *call {
		return w.runner("PUT", w.task+"/primary-session", `{"session_id":null}`)
	}, topics: []string{"task"}}},
	"createSession": {{call: func(w *stamping) *call {
		return w.runner("POST", w.task+"/sessions", map[string]any{"kind": "main", "id": w.made})
	}, topics: []string{"made messages", "made queue", "task"}}},
	"updateSession": {
		{call: func(w *stamping) *call { return w.runner("PATCH", w.ofSession(), `{"state":"idle"}`) }, topics: []string{"task"}},
		{call: func(w *stamping) *call { return w.runner("PATCH", w.ofSession(), `{"auto_run":false}`) }, topics: []string{"session queue", "task"}},
		{call: func(w *stamping) *call {
			w.started()
			return w.runner("PATCH", "/v1/sessions/"+w.child, `{"state":"failed"}`)
		}, topics: []string{"session executions", "session messages", "task"}},
	},
	"deleteSession": {{call: func(w *stamping) *call {
		w.started()
		return w.runner("DELETE", "/v1/sessions/"+w.child)
	}, topics: []string{"session executions", "session messages", "task"}}},
	"resetSession": {{call: func(w *stamping) *call { return w.runner("POST", w.ofSession()+"/reset", `{}`) }, topics: []string{"session queue", "task"}}},

	"startTurn":  {{call: func(w *stamping) *call { return w.runner("POST", w.ofSession()+"/turns", `{}`) }, topics: []string{"task"}}},
	"endTurn":    {{call: func(w *stamping) *call { return w.runner("PATCH", w.turn(), `{"state":"completed"}`) }, topics: []string{"task"}}},
	"deleteTurn": {{call: func(w *stamping) *call { return w.runner("DELETE", w.turn()) }, topics: []string{"task"}}},

	"savePlan": {
		{call: func(w *stamping) *call { return w.runner("PUT", w.task+"/plan", `{"content":"two"}`) }, topics: []string{"plan"}},
		{call: func(w *stamping) *call {
			w.does(204, "DELETE", w.task+"/plan")
			return w.runner("PUT", w.task+"/plan", `{"content":"two"}`)
		}, topics: []string{"comments", "plan"}},
		{call: func(w *stamping) *call {
			c := w.comment()
			w.does(201, "POST", w.task+"/plan/comments", c)
			return w.runner("PUT", w.task+"/plan", map[string]any{"content": "two", "orphaned_comment_refs": []any{map[string]any{"id": c["id"], "version": 1}}})
		}, topics: []string{"comments", "plan"}},
	},
	"deletePlan": {{call: func(w *stamping) *call { return w.runner("DELETE", w.task+"/plan") }, topics: []string{"comments", "plan"}}},
	"revertPlan": {{call: func(w *stamping) *call {
		w.does(200, "PUT", w.task+"/plan", `{"content":"two"}`)
		return w.runner("POST", w.task+"/plan/revisions/1/revert")
	}, topics: []string{"plan"}}},

	"createPlanComment": {{call: func(w *stamping) *call { return w.runner("POST", w.task+"/plan/comments", w.comment()) }, topics: []string{"comments"}}},
	"updatePlanComment": {{call: func(w *stamping) *call {
		return w.runner("PATCH", w.commented(), map[string]any{"plan_id": w.planID, "expected_version": 1, "body": "c"})
	}, topics: []string{"comments"}}},
	"deletePlanComment": {{call: func(w *stamping) *call {
		return w.runner("DELETE", w.commented()+"?expected_version=1&plan_id="+w.planID)
	}, topics: []string{"comments"}}},
	"importPlanComments": {{call: func(w *stamping) *call {
		draft := w.comment()
		delete(draft, "plan_id")
		return w.runner("POST", w.task+"/plan/comments/import", map[string]any{"plan_id": w.planID, "drafts": []any{draft}})
	}, topics: []string{"comments"}}},

	"admitPrompt": {
		{call: func(w *stamping) *call {
			return w.runner("POST", w.task+"/sessions/"+w.session+"/prompts", `{"client_message_id":"m","content":"x"}`)
		}, topics: []string{"session messages", "session queue"}},
		{call: func(w *stamping) *call {
			c := w.comment()
			w.does(201, "POST", w.task+"/plan/comments", c)
			return w.runner("POST", w.task+"/sessions/"+w.session+"/prompts", map[string]any{
				"client_message_id": "m", "plan_comment_refs": []any{map[string]any{"id": c["id"], "version": 1}},
			})
		}, topics: []string{"comments", "session messages", "session queue"}},
	},
	"runPlanComment": {{call: func(w *stamping) *call {
		return w.runner("POST", w.commented()+"/run", `{"client_admission_id":"r","version":1}`)
	}, topics: []string{"comments", "session messages", "session queue"}}},

	"createAttachment": {{none: "no event shows what is staged"}},
	"deleteAttachment": {{none: "no event shows what is staged"}},

	"admitQueued": {{call: func(w *stamping) *call { return w.runner("POST", w.queue(), `{"client_queue_id":"q","content":"x"}`) }, topics: []string{"session queue"}}},
	"editQueueEntry": {{call: func(w *stamping) *call {
		return w.runner("PATCH", w.queue()+"/"+w.queued("q"), `{"content":"y","expected_version":1}`)
	}, topics: []string{"session queue"}}},
	"removeQueueEntry": {{call: func(w *stamping) *call { return w.runner("DELETE", w.queue()+"/"+w.queued("q")) }, topics: []string{"session queue"}}},
	"reorderQueue": {{call: func(w *stamping) *call {
		first, second := w.queued("q"), w.queued("r")
		return w.runner("PUT", w.queue()+"/order", map[string]any{"entry_ids": []string{second, first}})
	}, topics: []string{"session queue"}}},
	"appendToQueue": {{call: func(w *stamping) *call { return w.runner("POST", w.queue()+"/append", `{"content":"x"}`) }, topics: []string{"session queue"}}},
	"sendNow": {
		{call: func(w *stamping) *call {
			w.queued("q")
			return w.call("POST", w.queue()+"/send-now", `{"expected_queue_revision":1}`).as(access.ScopeUser)
		}, topics: []string{"session queue"}},
		{call: func(w *stamping) *call {
			w.turn()
			w.queued("q")
			return w.call("POST", w.queue()+"/send-now", `{"expected_queue_revision":1,"interrupt":true}`).as(access.ScopeUser)
		}, topics: []string{"session interrupt", "session queue"}},
	},

	"reserveDelivery": {{call: func(w *stamping) *call {
		w.queued("q")
		return w.runner("POST", w.ofSession()+"/deliveries/reserve", `{}`)
	}, topics: []string{"session queue"}}},
	"renewDelivery": {{call: func(w *stamping) *call {
		path, token := w.reserved()
		return w.runner("POST", path+"/renew", token)
	}, none: "no event shows how long a lease is"}},
	"attemptDelivery": {{call: func(w *stamping) *call {
		path, token := w.reserved()
		return w.runner("POST", path+"/attempt", token)
	}, topics: []string{"session messages", "session queue", "task"}}},
	"releaseDelivery": {{call: func(w *stamping) *call {
		path, token := w.reserved()
		return w.runner("POST", path+"/release", token)
	}, topics: []string{"session queue"}}},
	"acknowledgeDelivery": {
		{call: func(w *stamping) *call {
			path, token := w.attempted()
			return w.runner("POST", path+"/acknowledge", withOutcome(token, "succeeded"))
		}, topics: []string{"session queue"}},
		{call: func(w *stamping) *call {
			path, token := w.attempted()
			return w.runner("POST", path+"/acknowledge", withOutcome(token, "failed"))
		}, topics: []string{"session queue", "task"}},
	},
	"resolveDelivery": {{call: func(w *stamping) *call {
		path, token := w.attempted()
		w.does(200, "POST", path+"/acknowledge", withOutcome(token, "unknown"))
		return w.runner("POST", path+"/resolve", `{"resolution":"requeue"}`)
	}, topics: []string{"session queue"}}},

	"appendMessages": {
		{call: func(w *stamping) *call {
			return w.runner("POST", w.ofSession()+"/messages", `{"messages":[{"role":"assistant","content":"x"}]}`)
		}, topics: []string{"session messages"}},
		{call: func(w *stamping) *call {
			w.started()
			return w.runner("POST", w.ofSession()+"/messages",
				`{"messages":[{"role":"assistant","content":"x","tool_calls":[{"id":"c","name":"delegate","arguments":"{}"}]}]}`)
		}, topics: []string{"session executions", "session messages"}},
	},
	"appendFrames": {{call: func(w *stamping) *call {
		return w.runner("POST", w.ofSession()+"/frames", `{"frames":[{"frame":"tool_call","tool_call_id":"c","title":"t"}]}`)
	}, topics: []string{"session messages"}}},
	"rollbackMessages": {{call: func(w *stamping) *call {
		w.message()
		return w.runner("POST", w.ofSession()+"/messages/rollback", `{"from_seq":1}`)
	}, topics: []string{"session messages"}}},
	"updateMessage": {{call: func(w *stamping) *call { return w.runner("PATCH", w.message(), `{"content":"y"}`) }, topics: []string{"session messages"}}},

	"startExecution": {{call: func(w *stamping) *call {
		return w.runner("POST", w.ofSession()+"/subagent-executions", w.execution())
	}, topics: []string{"session executions"}}},
	"endExecution": {{call: func(w *stamping) *call { return w.runner("PATCH", w.started(), `{"status":"completed"}`) }, topics: []string{"session executions", "session messages"}}},
}

// EV-1: no operation forgets to stamp. Whatever changes something below a task takes
// exactly the next number, and stamps with it what it touched and nothing else.
func TestEveryOperationStamps(t *testing.T) {
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	mutations := map[string]bool{}
	for template, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if method == http.MethodGet {
				continue
			}
			mutations[operation.OperationID] = true
			if len(stampCases[operation.OperationID]) == 0 {
				t.Errorf("nobody knows what %s %s touches", method, template)
			}
		}
	}
	for name := range stampCases {
		if !mutations[name] {
			t.Errorf("%s changes nothing", name)
		}
	}
	eachStack(t, func(t *testing.T, s *stack) {
		for name, cases := range stampCases {
			for _, c := range cases {
				t.Run(name, func(t *testing.T) { c.try(t, s) })
			}
		}
	})
}

func (c stampCase) try(t *testing.T, s *stack) {
	if c.call == nil {
		if c.none == "" {
			t.Error("touches nothing for no reason")
		}
		return
	}
	w := newStamping(t, s)
	call := c.call(w)
	before := stampsOf(t, s, w.taskID)
	if a := call.do(t); a.Code >= 300 {
		t.Fatalf("%s %s: %d %s", call.method, call.path, a.Code, a.Body)
	}
	after := stampsOf(t, s, w.taskID)
	var want []string
	for _, topic := range c.topics {
		for name, id := range map[string]string{"session ": w.session, "child ": w.child, "made ": w.made} {
			if len(topic) > len(name) && topic[:len(name)] == name {
				topic = id + topic[len(name)-1:]
			}
		}
		want = append(want, topic)
	}
	slices.Sort(want)
	moved := int64(1)
	if len(want) == 0 {
		moved = 0
	}
	if after.number != before.number+moved {
		t.Errorf("number went from %d to %d", before.number, after.number)
	}
	if diff := cmp.Diff(want, after.touched(t, before)); diff != "" {
		t.Errorf("topics (-want +got):\n%s\nsession %s, child %s, made %s", diff, w.session, w.child, w.made)
	}
}

// EV-1: a task begins with its first change.
func TestCreateTaskStamps(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		got := stampsOf(t, s, s.task(t)[len("/v1/tasks/"):])
		if diff := cmp.Diff(stamps{1, map[string]int64{"task": 1, "plan": 0, "comments": 0}}, got, cmp.AllowUnexported(stamps{})); diff != "" {
			t.Error(diff)
		}
	})
}
