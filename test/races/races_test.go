// Package races_test holds the races that processes show: many requests at once to
// one server, and to two on one PostgreSQL.
package races_test

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// contest sends the requests at once, each through the client of its place, and
// returns the answers in their order.
func contest(t *testing.T, requests []request) []process.Answer {
	t.Helper()
	answers := make([]process.Answer, len(requests))
	start := make(chan struct{})
	var done sync.WaitGroup
	for i, r := range requests {
		done.Go(func() {
			<-start
			answer, err := r.client.Send(t.Context(), "POST", r.path, r.body)
			if err != nil {
				t.Error(err)
			}
			answers[i] = answer
		})
	}
	close(start)
	done.Wait()
	return answers
}

type request struct {
	client *process.Client
	path   string
	body   any
}

// servers is one server, or two on one database where it allows that (OP-3).
type servers []*process.Server

func (s servers) client(i int) *process.Client { return s[i%len(s)].Client }

// each runs f with one server on both databases, and with two on PostgreSQL. No
// server may have seen an error of its own, or a data race.
func each(t *testing.T, f func(t *testing.T, s servers)) {
	run := func(t *testing.T, url string, n int) {
		var s servers
		for range n {
			s = append(s, process.Start(t, url))
		}
		f(t, s)
		for _, one := range s {
			one.Stop(t)
		}
	}
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) { run(t, newURL(t), 1) })
	t.Run("postgres, two servers", func(t *testing.T) { run(t, dbtest.PostgresURL(t), 2) })
}

// AD-7: of 32 identical first uses one admits, the others replay it.
func TestIdenticalAdmissions(t *testing.T) {
	each(t, func(t *testing.T, s servers) {
		for round := range 5 {
			scene := s.client(0).NewScene(t)
			body := map[string]any{
				"client_message_id": "once", "content": "go on",
				"plan_comment_refs": []any{scene.NewComment(t), scene.NewComment(t)},
			}
			kept := scene.NewComment(t)
			var requests []request
			for i := range 32 {
				requests = append(requests, request{s.client(i), scene.TaskPath("/sessions/" + scene.Session + "/prompts"), body})
			}
			statuses, deliveries := map[int]int{}, map[string]int{}
			for _, a := range contest(t, requests) {
				statuses[a.Status]++
				deliveries[a.Object().Text("delivery.id")]++
				if replayed := a.Header.Get("Idempotent-Replayed") == "true"; replayed != (a.Status == http.StatusOK) {
					t.Errorf("replayed is %t in %s", replayed, a)
				}
			}
			if diff := cmp.Diff(map[int]int{201: 1, 200: 31}, statuses); diff != "" || len(deliveries) != 1 {
				t.Errorf("round %d: deliveries %v, statuses (-want +got)\n%s", round, deliveries, diff)
			}
			wantComments(t, scene, 4, kept["id"].(string))
			wantDeliveries(t, scene, 1)
		}
	})
}

// overlaps is how many races the test of overlapping references runs.
const overlaps = 25

// AD-1, AD-3: of two prompts of two sessions that name a common comment exactly one
// wins. It takes its comments, the revision grows by one, and of the other there is
// no trace.
func TestOverlappingReferences(t *testing.T) {
	each(t, func(t *testing.T, s servers) {
		scene := s.client(0).NewScene(t)
		won := map[int]int{}
		for round := range overlaps {
			won[overlap(t, s, scene, round)]++
		}
		t.Logf("wins by contestant: %v", won)
	})
}

// overlap runs one race on two fresh sessions and returns who won.
func overlap(t *testing.T, s servers, scene *process.Scene, round int) (winner int) {
	t.Helper()
	refs := []any{scene.NewComment(t), scene.NewComment(t), scene.NewComment(t)}
	before := scene.Comments(t)
	sessions := []string{scene.NewSession(t), scene.NewSession(t)}
	var requests []request
	for i, session := range sessions {
		requests = append(requests, request{
			s.client(i + round), scene.TaskPath("/sessions/" + session + "/prompts"),
			map[string]any{
				"client_message_id": fmt.Sprintf("r%d.%d", round, i), "content": "go on",
				"plan_comment_refs": []any{refs[i], refs[i+1]}, // the middle one is common
			},
		})
	}
	answers := contest(t, requests)
	if answers[1].Status == http.StatusCreated {
		winner = 1
	}
	loser := 1 - winner
	if answers[winner].Status != http.StatusCreated || answers[loser].Status != http.StatusConflict ||
		answers[loser].Object().Text("code") != "plan_comments_changed" {
		t.Fatalf("round %d: %s\n%s", round, answers[0], answers[1])
	}
	spared := refs[2*loser].(map[string]any)["id"].(string)
	wantComments(t, scene, before.Int("revision")+1, spared)

	scene.Must(t, 200, "GET", scene.TaskPath(fmt.Sprintf("/admissions/r%d.%d", round, winner)), nil)
	scene.Must(t, 404, "GET", scene.TaskPath(fmt.Sprintf("/admissions/r%d.%d", round, loser)), nil)
	wantDeliveries(t, scene, 2*int64(round)+1) // two of every round before
	for i, last := range map[int]int64{winner: 1, loser: 0} {
		session := scene.Must(t, 200, "GET", "/v1/sessions/"+sessions[i], nil)
		if session.Int("last_seq") != last || session.Int("queue_revision") != last {
			t.Errorf("round %d: session of contestant %d is %v", round, i, session)
		}
	}
	// The client id of the loser is free again (AD-3), and settles the comment.
	requests[loser].body.(map[string]any)["plan_comment_refs"] = []any{refs[2*loser]}
	scene.Must(t, 201, "POST", requests[loser].path, requests[loser].body)
	return winner
}

func wantComments(t *testing.T, scene *process.Scene, revision int64, ids ...string) {
	t.Helper()
	snapshot := scene.Comments(t)
	var got []string
	for _, c := range snapshot.Items("comments") {
		got = append(got, c.Text("id"))
	}
	if diff := cmp.Diff(ids, got); diff != "" || snapshot.Int("revision") != revision {
		t.Errorf("revision %d, want %d; comments (-want +got)\n%s", snapshot.Int("revision"), revision, diff)
	}
}

func wantDeliveries(t *testing.T, scene *process.Scene, n int64) {
	t.Helper()
	list := scene.Must(t, 200, "GET", scene.TaskPath("/deliveries?limit=200"), nil)
	if got := int64(len(list.Items("items"))); got != n {
		t.Errorf("%d deliveries, want %d", got, n)
	}
}
