// Package hooks_test runs servers with a turn-start hook: a web server of the test,
// which answers as it is told and calls the API back.
package hooks_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	signing "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receiver is the hook.
type receiver struct {
	*httptest.Server
	asked  atomic.Int64
	mu     sync.Mutex
	answer func(w http.ResponseWriter, turn process.Object)
}

// newReceiver checks the signature of every question, and then lets it pass.
func newReceiver(t *testing.T) *receiver {
	t.Helper()
	verifier, err := signing.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{answer: func(http.ResponseWriter, process.Object) {}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked.Add(1)
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		if err := verifier.Verify(body, q.Header); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		answer := r.answer
		r.mu.Unlock()
		answer(w, process.Answer{Body: body}.Object())
	}))
	t.Cleanup(r.Close)
	return r
}

// with makes the receiver answer so from now on.
func (r *receiver) with(answer func(w http.ResponseWriter, turn process.Object)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// each runs f with one server on both databases, and with two on PostgreSQL, all with
// as few connections as a server takes. None may have seen an error of its own.
func each(t *testing.T, f func(t *testing.T, hook *receiver, servers []*process.Server)) {
	run := func(t *testing.T, url string, n int) {
		hook := newReceiver(t)
		var servers []*process.Server
		for range n {
			servers = append(servers, process.Start(t, url, "--database-max-connections=2",
				"--hook-url="+hook.URL+"/turns", "--hook-secret="+secret, "--hook-timeout=10s"))
		}
		f(t, hook, servers)
		for _, s := range servers {
			s.Stop(t)
			if said := s.Stderr(); strings.Contains(said, secret) || strings.Contains(said, "go on") {
				t.Errorf("the server says what it must not:\n%s", said)
			}
		}
	}
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) { run(t, newURL(t), 1) })
	t.Run("postgres, two servers", func(t *testing.T) { t.Parallel(); run(t, dbtest.PostgresURL(t), 2) })
}

// prompt is a direct prompt to the session of a scene, always with the id c1.
func prompt(t *testing.T, s *process.Scene, c *process.Client, refs ...any) process.Answer {
	t.Helper()
	body := map[string]any{"client_message_id": "c1", "content": "go on", "plan_comment_refs": append([]any{}, refs...)}
	answer, err := c.Send(t.Context(), "POST", s.TaskPath("/sessions/"+s.Session+"/prompts"), body)
	if err != nil {
		t.Error(err)
	}
	return answer
}

// get reads, from any goroutine, what must be answered with a status.
func get(t *testing.T, c *process.Client, status int, path string) process.Object {
	t.Helper()
	answer, err := c.Send(t.Context(), "GET", path, nil)
	if err != nil || answer.Status != status {
		t.Errorf("GET %s: %s, %v", path, answer, err)
	}
	return answer.Object()
}

// A hook reads back what it is asked about, refuses, lets pass, and is not asked about
// a replay (AD-3, AD-7).
func TestHookCallsBack(t *testing.T) {
	each(t, func(t *testing.T, hook *receiver, servers []*process.Server) {
		scene := servers[0].NewScene(t)
		other := servers[len(servers)-1]
		ref := scene.NewComment(t)
		hook.with(func(w http.ResponseWriter, turn process.Object) {
			for _, s := range servers {
				pending := get(t, s.Client, 200, "/v1/tasks/"+turn.Text("data.task_id")+"/plan/comments").Items("comments")
				if refs := turn.Items("data.plan_comment_refs"); len(pending) != 1 || len(refs) != 1 || refs[0].Text("id") != ref["id"] {
					t.Errorf("asked about %v with %d comments pending", turn, len(pending))
				}
				get(t, s.Client, 404, scene.TaskPath("/admissions/c1"))
			}
			w.WriteHeader(http.StatusForbidden)
		})
		answer := prompt(t, scene, servers[0].Client, ref)
		if o := answer.Object(); answer.Status != 503 || o.Text("code") != "unavailable" || !strings.Contains(o.Text("detail"), "hook") {
			t.Errorf("a refusal is answered %s", answer)
		}
		if n := len(scene.Comments(t).Items("comments")); n != 1 {
			t.Errorf("a refusal left %d comments", n)
		}
		hook.with(func(w http.ResponseWriter, turn process.Object) {
			if !strings.HasSuffix(turn.Text("data.content"), "go on") || !strings.Contains(turn.Text("data.content"), "> why?") {
				t.Errorf("asked about %q", turn.Text("data.content"))
			}
			w.WriteHeader(http.StatusNoContent)
		})
		if answer = prompt(t, scene, other.Client, ref); answer.Status != 201 {
			t.Errorf("the second try got %s", answer)
		}
		if answer = prompt(t, scene, servers[0].Client, ref); answer.Status != 200 || hook.asked.Load() != 2 {
			t.Errorf("the replay got %s, and the hook was asked %d times", answer, hook.asked.Load())
		}
		metrics, err := servers[0].Send(t.Context(), "GET", "/metrics", nil)
		if err != nil || !strings.Contains(string(metrics.Body), `gatehouse_turn_hook_duration_seconds_count{outcome="refused"} 1`) {
			t.Errorf("metrics lack the refusal: %v", err)
		}
	})
}

// A hook puts another session in the place of the one that was named.
func TestHookReplacesTheSession(t *testing.T) {
	each(t, func(t *testing.T, hook *receiver, servers []*process.Server) {
		scene := servers[0].NewScene(t)
		second := scene.NewSession(t)
		hook.with(func(w http.ResponseWriter, _ process.Object) { fmt.Fprintf(w, `{"session_id":%q}`, second) })
		answer := prompt(t, scene, servers[0].Client)
		if o := answer.Object(); answer.Status != 201 || o.Text("delivery.session_id") != second || o.Text("requested_session_id") != scene.Session {
			t.Errorf("answered %s", answer)
		}
	})
}

// More tasks than connections ask the hook at once, which calls both servers back:
// everybody gets an answer, and every prompt is asked about once.
func TestManyHooksAtOnce(t *testing.T) {
	each(t, func(t *testing.T, hook *receiver, servers []*process.Server) {
		const tasks = 16
		hook.with(func(_ http.ResponseWriter, turn process.Object) {
			for _, s := range servers {
				get(t, s.Client, 200, "/v1/tasks/"+turn.Text("data.task_id")+"/plan/comments")
			}
		})
		var group sync.WaitGroup
		for i := range tasks {
			scene := servers[i%len(servers)].NewScene(t)
			ref := scene.NewComment(t)
			statuses := make(chan int, 2)
			for n := range cap(statuses) {
				group.Go(func() { statuses <- prompt(t, scene, servers[n%len(servers)].Client, ref).Status })
			}
			group.Go(func() {
				if sum := <-statuses + <-statuses; sum != 201+200 {
					t.Errorf("two first uses got %d", sum)
				}
			})
		}
		group.Wait()
		if n := hook.asked.Load(); n != tasks {
			t.Errorf("asked %d times about %d prompts", n, tasks)
		}
	})
}
