package crash_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/test/process"
)

// agent appends batches of messages to the session whose prompts are admitted at the
// same time.
type agent struct {
	*process.Scene
	random *rand.Rand
	said   map[string]int64 // seq by id of a message
}

func newAgent(_ *testing.T, s *process.Scene, random *rand.Rand) job {
	return &agent{Scene: s, random: random, said: map[string]int64{}}
}

func (a *agent) next() *change {
	var messages []any
	var ids []string
	for range a.random.IntN(5) + 1 {
		ids = append(ids, domain.NewID())
		messages = append(messages, map[string]any{"id": ids[len(ids)-1], "role": "assistant", "content": "done"})
	}
	return appendTo(a.Scene, a.Session, ids, messages, a.said)
}

// appendTo appends messages and writes their places down in said.
func appendTo(s *process.Scene, session string, ids []string, messages []any, said map[string]int64) *change {
	return &change{
		name: "append", method: "POST", path: "/v1/sessions/" + session + "/messages", fresh: 200, again: 200,
		body: map[string]any{"messages": messages},
		happened: func(t *testing.T) bool {
			there := map[string]bool{}
			page := s.Must(t, 200, "GET", "/v1/sessions/"+session+"/messages?limit=200&diffs=none", nil)
			for _, m := range page.Items("messages") {
				there[m.Text("id")] = true
			}
			for _, id := range ids {
				if there[id] != there[ids[0]] {
					t.Errorf("half of a batch of messages is there: %v", ids)
				}
			}
			return there[ids[0]]
		},
		enter: func(answer process.Answer) {
			for _, r := range answer.Object().Items("results") {
				said[r.Text("id")] = r.Int("seq")
			}
		},
	}
}

func (a *agent) check(*testing.T) {}

// finish: every answered message stands in its place, and the places have no gap.
func (a *agent) finish(t *testing.T) {
	t.Helper()
	got, all := map[string]int64{}, history(t, a.Scene, a.Session)
	for i, m := range all {
		if m.Int("seq") != int64(i)+1 {
			t.Fatalf("message %d has seq %d", i+1, m.Int("seq"))
		}
		if _, mine := a.said[m.Text("id")]; mine {
			got[m.Text("id")] = m.Int("seq")
		}
	}
	if diff := cmp.Diff(a.said, got); diff != "" {
		t.Errorf("messages (-answered +server)\n%s", diff)
	}
}

// history is the whole transcript of a session.
func history(t *testing.T, s *process.Scene, session string) []process.Object {
	t.Helper()
	var all []process.Object
	for before := ""; ; {
		page := s.Must(t, 200, "GET", "/v1/sessions/"+session+"/messages?limit=200"+before, nil)
		all = append(page.Items("messages"), all...)
		if page["has_more"] != true {
			return all
		}
		before = fmt.Sprintf("&before=%d", page.Int("next_before"))
	}
}
