// Package shutdown_test ends servers with signals and looks at what their clients see
// (OP-10), and at who may serve a database beside whom (OP-14).
package shutdown_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/test/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// OP-10: under load, a server that is told to end answers what it has begun, takes
// nothing new and exits with 0. What it answered is there after the restart.
func TestTerminateUnderLoad(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		database := newURL(t)
		server := process.Start(t, database)
		scene := server.NewScene(t)
		held := holdComment(t, scene)
		crowd := comment(t, server.Client)
		crowd.started.Wait()

		server.Signal(t, syscall.SIGTERM)
		waitClosed(t, server.URL)
		if answer := held.finish(t); answer.Status != http.StatusCreated {
			t.Errorf("the running request got %s", answer)
		}
		if state := server.Wait(); state.ExitCode() != 0 {
			t.Errorf("ended with %s", state)
		}
		crowd.ended.Wait()

		again := process.Start(t, database)
		scene.Client = again.Client
		if got := len(scene.Comments(t).Items("comments")); got != 1 {
			t.Errorf("the running request left %d comments", got)
		}
		crowd.check(t, again.Client)
		again.Stop(t)
	})
}

// OP-10: a second signal ends a server at once, whatever runs.
func TestSecondSignal(t *testing.T) {
	database := dbtest.SQLiteURL(t)
	server := process.Start(t, database)
	scene := server.NewScene(t)
	held := holdComment(t, scene)
	server.Signal(t, syscall.SIGTERM)
	waitClosed(t, server.URL)
	server.Signal(t, syscall.SIGTERM)
	if status, ok := server.Wait().Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("ended with %s", server.Wait())
	}
	held.abandon()
	scene.Client = process.Start(t, database).Client
	if got := len(scene.Comments(t).Items("comments")); got != 0 {
		t.Errorf("what was not answered left %d comments", got)
	}
}

// OP-10, DL-3: a runner's lease outlives a server, however that one ends.
func TestLeaseOutlivesServer(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		database := newURL(t)
		server := process.Start(t, database)
		for name, end := range map[string]func(){"terminated": func() { server.Stop(t) }, "killed": func() { server.Kill() }} {
			scene := server.NewScene(t)
			scene.Must(t, 201, "POST", scene.TaskPath("/sessions/"+scene.Session+"/prompts"), map[string]any{"client_message_id": "m", "content": "go on"})
			reserved := scene.Must(t, 200, "POST", scene.SessionPath("/deliveries/reserve"), map[string]any{"lease_seconds": 300})
			end()
			server = process.Start(t, database)
			scene.Client = server.Client
			if answer, err := scene.Send(t.Context(), "POST", scene.SessionPath("/deliveries/reserve"), nil); err != nil || answer.Status != 204 {
				t.Errorf("%s: another runner got %s (%v)", name, answer, err)
			}
			scene.Must(t, 200, "POST", "/v1/deliveries/"+reserved.Text("delivery.id")+"/attempt", map[string]any{"token": reserved.Text("token")})
		}
	})
}

// OP-14: a SQLite database has one server, and the refusal says why. It is free again
// when that one was killed.
func TestSecondServerIsRefused(t *testing.T) {
	database := dbtest.SQLiteURL(t)
	first := process.Start(t, database)
	if _, err := process.TryStart(t, database); err == nil || !strings.Contains(err.Error(), "another gatehouse serves "+strings.TrimPrefix(database, "sqlite:")) {
		t.Errorf("the second got %v", err)
	}
	first.Kill()
	process.Start(t, database).Stop(t)
}

// heldRequest is one whose body the server waits for.
type heldRequest struct {
	body    *os.File
	rest    string
	answers chan process.Answer
	cancel  context.CancelFunc
}

// holdComment holds a request for a new comment.
func holdComment(t *testing.T, scene *process.Scene) *heldRequest {
	t.Helper()
	return hold(t, scene, scene.TaskPath("/plan/comments"), commentText(scene))
}

// hold begins a request and returns when the server has begun to read its body.
func hold(t *testing.T, scene *process.Scene, path, body string) *heldRequest {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		_ = write.Close()
		_ = read.Close()
	})
	h := &heldRequest{write, body, make(chan process.Answer, 1), cancel}
	reading := make(chan struct{})
	r, err := http.NewRequestWithContext(onContinue(ctx, reading), http.MethodPost, scene.URL+path, read)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Expect", "100-continue") // the server says so when a handler reads
	go func() {
		answer, err := scene.Do(r)
		if err != nil {
			answer.Body = []byte(err.Error())
		}
		h.answers <- answer
	}()
	select {
	case <-reading:
	case answer := <-h.answers:
		t.Fatalf("the held request was answered: %s", answer)
	}
	return h
}

func (h *heldRequest) finish(t *testing.T) process.Answer {
	t.Helper()
	h.send(t)
	return <-h.answers
}

// send sends the body.
func (h *heldRequest) send(t *testing.T) {
	t.Helper()
	if _, err := h.body.WriteString(h.rest); err != nil {
		t.Fatal(err)
	}
	_ = h.body.Close()
}

// abandon waits until the client has noticed that the server is gone.
func (h *heldRequest) abandon() {
	_ = h.body.Close() // the client waits for it, too
	h.cancel()
	<-h.answers
}

// waitClosed waits until a server takes no connections any more.
func waitClosed(t *testing.T, at string) {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); accepts(t, u.Host); {
		if time.Now().After(deadline) {
			t.Fatal("the server goes on taking connections")
		}
	}
}

// crowd is many clients that comment until there is nobody to answer.
type crowd struct {
	started, ended sync.WaitGroup
	mu             sync.Mutex
	answered       map[*process.Scene]int
}

// clients is how many there are.
const clients = 16

func comment(t *testing.T, client *process.Client) *crowd {
	t.Helper()
	c := &crowd{answered: map[*process.Scene]int{}}
	for range clients {
		scene := client.NewScene(t)
		c.started.Add(1)
		c.ended.Go(func() {
			for n := 0; ; n++ {
				answer, err := scene.Send(t.Context(), "POST", scene.TaskPath("/plan/comments"), scene.Comment())
				if n == 0 {
					c.started.Done()
				}
				switch {
				case err != nil:
					return
				case answer.Status == 422 && answer.Object().Text("code") == "comment_limit_exceeded":
				case answer.Status != 201:
					t.Errorf("a client of the crowd got %s", answer)
					return
				default:
					c.mu.Lock()
					c.answered[scene]++
					c.mu.Unlock()
				}
			}
		})
	}
	return c
}

// check: a connection that was closed may have cost an answer, never a comment that
// was answered.
func (c *crowd) check(t *testing.T, client *process.Client) {
	t.Helper()
	for scene, answered := range c.answered {
		after := *scene
		after.Client = client
		if got := len(after.Comments(t).Items("comments")); got != answered && got != answered+1 {
			t.Errorf("%d comments, %d were answered", got, answered)
		}
	}
}

// commentText is the body of a request for a new comment.
func commentText(scene *process.Scene) string {
	return `{"id":"` + domain.NewID() + `","plan_id":"` + scene.Plan + `","body":"why?","selected_text":"x","anchor_from":1,"anchor_to":2}`
}
