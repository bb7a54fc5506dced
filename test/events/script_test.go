package events_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	taskID  = "0190a000-0000-7000-8000-000000000001"
	session = "0190a000-0000-7000-8000-000000000002"
	ready   = "event: ready\ndata: {}\n\n"
)

// script is a server that the test writes: a step for each stream, by its number from
// 0. Other requests are answered by rest, or with 404.
type script struct {
	*httptest.Server
	step func(w http.ResponseWriter, r *http.Request, n int)
	rest http.HandlerFunc

	mu    sync.Mutex
	since []string // the Last-Event-ID of each connection, "" for none
}

func newScript(t *testing.T, step func(w http.ResponseWriter, r *http.Request, n int)) *script {
	t.Helper()
	s := &script{step: step, rest: http.NotFound}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/tasks/"+taskID+"/events" {
		s.rest(w, r)
		return
	}
	s.mu.Lock()
	n := len(s.since)
	s.since = append(s.since, r.Header.Get("Last-Event-ID"))
	s.mu.Unlock()
	s.step(w, r, n)
}

// connections are the Last-Event-IDs so far.
func (s *script) connections() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.since)
}

// send sends a piece of a stream on its way.
func send(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// hold keeps a stream open until the client ends it.
func hold(w http.ResponseWriter, r *http.Request, text string) {
	send(w, text)
	<-r.Context().Done()
}

// planEvent is the event of a plan.
func planEvent(id int, plan string, version int) string {
	return fmt.Sprintf("event: task.plan.changed\n%sdata: {\"plan_id\":%q,\"version\":%d}\n\n", idLine(id), plan, version)
}

// commentsEvent is the event of comments.
func commentsEvent(id int, plan string, revision int) string {
	return fmt.Sprintf("event: task.plan.comments.changed\n%sdata: {\"plan_id\":%q,\"revision\":%d,\"comments\":[]}\n\n", idLine(id), plan, revision)
}

// idLine is the field, nothing for 0.
func idLine(id int) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("id: %d\n", id)
}

// comments is the plan and the revision of the comments that are shown, "" for none.
func (r report) comments() string {
	shown, ok := r.State["comments"].(map[string]any)
	if !ok {
		return ""
	}
	return fmt.Sprint(shown["plan_id"], " ", shown["revision"])
}

// versions are those of the plan events that the client has told, in order.
func versions(reports []report) (versions []int) {
	for _, r := range reports {
		if data, ok := r.Change.Data.(map[string]any); ok && r.Change.Name == "task.plan.changed" {
			version, _ := data["version"].(float64)
			versions = append(versions, int(version))
		}
	}
	return versions
}

// Events come whole in whatever pieces, with whatever ends of lines. Each of them is cut
// in two at another byte: the first piece comes with an event before it, and the second
// when the client has told of that one.
func TestClientReadsAnyStream(t *testing.T) {
	t.Parallel()
	before := func(n int) string { return fmt.Sprintf("event:task.plan.changed\ndata:{\"version\":%d}\n\n", n) }
	odd := func(n int) string {
		return fmt.Sprintf(": größer\nevent: ready\n\nretry: 1\nunknown\n"+
			"data: {\"plan_id\": \"größer 🦊\",\ndata:\"version\":\ndata\ndata: %d}\nid: %d\nevent: task.plan.changed\n\n", n, n)
	}
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pieces := make(chan string)
			s := newScript(t, func(w http.ResponseWriter, r *http.Request, n int) {
				if n > 0 {
					hold(w, r, "")
					return
				}
				for piece := range pieces {
					send(w, piece)
				}
			})
			f := newFollower(t)
			f.inNode(t, s.URL, taskID, nil)
			pieces <- strings.ReplaceAll("\ufeff: hello\n\n"+ready, "\n", end)
			var want []int
			for at := 1; ; at++ {
				text := strings.ReplaceAll(odd(2*at+1), "\n", end)
				if at == len(text) {
					break
				}
				pieces <- strings.ReplaceAll(before(2*at), "\n", end) + text[:at]
				want = append(want, 2*at, 2*at+1)
				eventually(t, "the event before", func() bool { return slices.Contains(versions(f.told()), 2*at) })
				pieces <- text[at:]
			}
			pieces <- ": bye" + end // an end by CR may be one by CRLF until another line comes
			close(pieces)
			eventually(t, "it comes back", func() bool { return len(s.connections()) == 2 })
			if got := s.connections()[1]; got != strconv.Itoa(want[len(want)-1]) {
				t.Errorf("it goes on after %q", got)
			}
			if got := versions(f.told()); !slices.Equal(got, want) {
				t.Errorf("versions %v", got)
			}
			for _, r := range f.told() {
				if plan, _ := r.Change.Data.(map[string]any); plan["plan_id"] != nil && plan["plan_id"] != "größer 🦊" {
					t.Fatalf("plan %v", plan)
				}
			}
		})
	}
}

// EV-1: cut at any byte, the client goes on after the last whole event with an id, and
// misses none.
func TestClientIsCutAnywhere(t *testing.T) {
	t.Parallel()
	// What comes after a number: a change of two topics, and one of one.
	after := func(n int) string {
		return commentsEvent(0, "p", n+1) + planEvent(n+1, "p", n+1) + ": \n\n" + planEvent(n+2, "p", n+2)
	}
	length := len(after(100)) + 1
	var mu sync.Mutex // of at and want: the client is what orders the connections
	at, want, done := 100, []string{"", "100"}, make(chan struct{})
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 0 {
			send(w, ready+planEvent(100, "p", 100))
			return
		}
		if n > length {
			close(done)
			hold(w, r, "")
			return
		}
		mu.Lock()
		defer mu.Unlock()
		text := after(at)[:n-1]
		for _, m := range idField.FindAllStringSubmatch(text[:strings.LastIndex(text, "\n\n")+1], -1) {
			_, _ = fmt.Sscan(m[1], &at)
		}
		want = append(want, strconv.Itoa(at))
		send(w, text)
	})
	f := newFollower(t)
	f.inNode(t, s.URL, taskID, map[string]any{"delay": map[string]any{"first": 1, "most": 1}})
	<-done
	mu.Lock()
	defer mu.Unlock()
	if got := s.connections(); !slices.Equal(got, want) {
		t.Errorf("it goes on after\n%q, want\n%q", got, want)
	}
	seen := versions(f.told())
	for version := 100; version <= at; version++ {
		if !slices.Contains(seen, version) {
			t.Errorf("version %d was missed", version)
		}
	}
	if !slices.IsSorted(seen) {
		t.Errorf("versions %v", seen)
	}
}
