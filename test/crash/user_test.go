package crash_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/test/process"
)

// user comments on a plan and sends prompts with the comments. Nobody else changes
// the comments, so its books are exact.
type user struct {
	*process.Scene
	random   *rand.Rand
	revision int64
	pending  map[string]int64    // version by id of a comment
	admitted map[string][]string // ids of comments by client id
	used     int                 // client ids
}

func newUser(_ *testing.T, s *process.Scene, random *rand.Rand) job {
	return &user{Scene: s, random: random, pending: map[string]int64{}, admitted: map[string][]string{}}
}

func (u *user) next() *change {
	ids := slices.Sorted(maps.Keys(u.pending))
	switch n := u.random.IntN(10); {
	case n < 4 || len(ids) == 0:
		return u.create()
	case n < 5:
		return u.edit(ids[u.random.IntN(len(ids))])
	case n < 6:
		return u.remove(ids[u.random.IntN(len(ids))])
	default:
		u.random.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		return u.admit(ids[:min(len(ids), u.random.IntN(4))], transports[u.random.IntN(len(transports))])
	}
}

// transport is one way to send a prompt.
type transport struct{ name, path, clientID string }

var transports = []transport{
	{"admit prompt", "/prompts", "client_message_id"},
	{"queue prompt", "/queue", "client_queue_id"},
}

func (u *user) create() *change {
	body := u.Comment()
	id := body["id"].(string)
	return &change{
		name: "create comment", method: "POST", path: u.TaskPath("/plan/comments"), body: body, fresh: 201, again: 200,
		refused:  []string{"comment_limit_exceeded"},
		happened: func(t *testing.T) bool { _, there := u.versions(t)[id]; return there },
		enter:    func(process.Answer) { u.pending[id] = 1; u.revision++ },
	}
}

func (u *user) edit(id string) *change {
	version := u.pending[id]
	return &change{
		name: "edit comment", method: "PATCH", path: u.TaskPath("/plan/comments/" + id), fresh: 200, again: 409,
		body:     map[string]any{"plan_id": u.Plan, "expected_version": version, "body": fmt.Sprintf("why %d?", version)},
		happened: func(t *testing.T) bool { return u.versions(t)[id] == version+1 },
		enter:    func(process.Answer) { u.pending[id]++; u.revision++ },
	}
}

func (u *user) remove(id string) *change {
	return &change{
		name: "delete comment", method: "DELETE", fresh: 200, again: 409,
		path:     u.TaskPath(fmt.Sprintf("/plan/comments/%s?plan_id=%s&expected_version=%d", id, u.Plan, u.pending[id])),
		happened: func(t *testing.T) bool { _, there := u.versions(t)[id]; return !there },
		enter:    func(process.Answer) { delete(u.pending, id); u.revision++ },
	}
}

func (u *user) admit(ids []string, by transport) *change {
	u.used++
	clientID := fmt.Sprintf("m%d", u.used)
	refs := []any{}
	for _, id := range ids {
		refs = append(refs, map[string]any{"id": id, "version": u.pending[id]})
	}
	return &change{
		name: by.name, method: "POST", path: u.TaskPath("/sessions/" + u.Session + by.path), fresh: 201, again: 200,
		body:    map[string]any{by.clientID: clientID, "content": "go on", "plan_comment_refs": refs},
		refused: []string{"session_unavailable", "queue_full"},
		happened: func(t *testing.T) bool {
			answer, err := u.Send(t.Context(), "GET", u.TaskPath("/admissions/"+clientID), nil)
			if err != nil || answer.Status != 200 && answer.Status != 404 {
				t.Fatalf("admission: %s %v", answer, err)
			}
			left := u.versions(t)
			for _, id := range ids {
				if _, there := left[id]; there == (answer.Status == 200) {
					t.Errorf("the comment %s is pending: %t, its admission: %s", id, there, answer)
				}
			}
			return answer.Status == 200
		},
		enter: func(process.Answer) {
			u.admitted[clientID] = ids
			for _, id := range ids {
				delete(u.pending, id)
			}
			if len(ids) > 0 {
				u.revision++
			}
		},
	}
}

// versions are those of the pending comments.
func (u *user) versions(t *testing.T) map[string]int64 {
	t.Helper()
	got := map[string]int64{}
	for _, c := range u.Comments(t).Items("comments") {
		got[c.Text("id")] = c.Int("version")
	}
	return got
}

// check: what is pending is exactly what should be, at the very revision (PC-1), so
// no refused admission took anything.
func (u *user) check(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(u.pending, u.versions(t)); diff != "" {
		t.Errorf("pending comments (-books +server)\n%s", diff)
	}
	if got := u.Comments(t).Int("revision"); got != u.revision {
		t.Errorf("revision %d, by the books %d", got, u.revision)
	}
}

// finish: every admission is there with its comments and, now that all are delivered,
// its one transcript row, and none that was refused.
func (u *user) finish(t *testing.T) {
	t.Helper()
	rows := map[string]int{}
	for _, m := range history(t, u.Scene, u.Session) {
		for _, by := range transports {
			if id := m.Text("metadata." + by.clientID); id != "" {
				rows[id]++
			}
		}
	}
	want := map[string]int{}
	for clientID, ids := range u.admitted {
		want[clientID] = 1
		var got []string
		for _, ref := range u.Must(t, 200, "GET", u.TaskPath("/admissions/"+clientID), nil).Items("consumed_comment_refs") {
			got = append(got, ref.Text("id"))
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(got))); diff != "" {
			t.Errorf("%s consumed (-books +server)\n%s", clientID, diff)
		}
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("transcript rows by client id (-books +server)\n%s", diff)
	}
}
