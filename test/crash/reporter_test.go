package crash_test

import (
	"maps"
	"math/rand/v2"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/test/process"
)

// reporter sends frames of a subagent's calls: those of new calls, and the ends of
// earlier ones. The first frame of a batch is of a new call, so that what became of a
// batch can be told.
type reporter struct {
	*process.Scene
	random  *rand.Rand
	session string // of its own
	open    []string
	calls   map[string]invocation
}

// invocation is what was told of a call.
type invocation struct {
	Status string
	Tokens int64 // 0: none were told
}

func newReporter(t *testing.T, s *process.Scene, random *rand.Rand) job {
	return &reporter{Scene: s, random: random, session: s.NewSession(t), calls: map[string]invocation{}}
}

func (r *reporter) next() *change {
	told := map[string]invocation{}
	var frames []any
	var opened []string
	tell := func(kind, call string, i invocation) {
		payload := map[string]any{"description": "look"}
		if i.Tokens > 0 {
			payload["total_tokens"] = i.Tokens
		}
		told[call] = i
		frames = append(frames, map[string]any{
			"frame": kind, "tool_call_id": call, "execution_id": "run", "status": i.Status,
			"normalized": map[string]any{"kind": "subagent_task", "subagent_task": payload},
		})
	}
	for range r.random.IntN(3) + 1 {
		opened = append(opened, domain.NewID())
		tell("tool_call", opened[len(opened)-1], invocation{Status: "in_progress"})
	}
	closing := r.random.IntN(len(r.open) + 1)
	for _, call := range r.open[:closing] {
		tell("tool_call_update", call, invocation{Status: "completed", Tokens: r.random.Int64N(1e6) + 1})
	}
	return &change{
		name: "frames", method: "POST", path: "/v1/sessions/" + r.session + "/frames", fresh: 200, again: 200,
		body: map[string]any{"frames": frames},
		happened: func(t *testing.T) bool {
			there := map[string]bool{}
			page := r.Must(t, 200, "GET", "/v1/sessions/"+r.session+"/messages?limit=200&diffs=none", nil)
			for _, m := range page.Items("messages") {
				there[m.Text("tool_call_id")] = true
			}
			for _, call := range opened {
				if there[call] != there[opened[0]] {
					t.Errorf("half of a batch of frames is there: %v", opened)
				}
			}
			return there[opened[0]]
		},
		enter: func(process.Answer) {
			maps.Copy(r.calls, told)
			r.open = append(r.open[closing:], opened...)
		},
	}
}

func (r *reporter) check(*testing.T) {}

// finish: every call has one message and one context, which say what was told last.
// The context of a frame whose answer was lost came with its repetition (SC-14).
func (r *reporter) finish(t *testing.T) {
	t.Helper()
	messages, contexts := 0, 0
	stated, recorded := map[string]invocation{}, map[string]invocation{}
	for _, m := range history(t, r.Scene, r.session) {
		call := m.Text("tool_call_id")
		messages++
		stated[call] = invocation{m.Text("metadata.status"), m.Int("metadata.normalized.subagent_task.total_tokens")}
	}
	path := "/v1/sessions/" + r.session + "/subagents?limit=200"
	for cursor := ""; ; {
		page := r.Must(t, 200, "GET", path+cursor, nil)
		for _, c := range page.Items("items") {
			call := c.Text("tool_call_id")
			contexts++
			recorded[call] = invocation{c.Text("tool_status"), c.Int("total_tokens")}
		}
		if page["next_cursor"] == nil {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(page.Text("next_cursor"))
	}
	if messages != len(r.calls) || contexts != len(r.calls) {
		t.Errorf("%d calls have %d messages and %d contexts", len(r.calls), messages, contexts)
	}
	if diff := cmp.Diff(r.calls, stated); diff != "" {
		t.Errorf("messages (-told +server)\n%s", diff)
	}
	if diff := cmp.Diff(r.calls, recorded); diff != "" {
		t.Errorf("contexts (-told +server)\n%s", diff)
	}
}
