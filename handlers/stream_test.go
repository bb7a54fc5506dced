package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/feed"
	"gatehouse/handlers"
)

// busy is a task of which every topic has something to show.
func busy(t *testing.T, s *stack) *stamping {
	t.Helper()
	w := newStamping(t, s)
	w.does(201, "POST", w.task+"/plan/comments", w.comment())
	w.started()
	w.turn()
	w.queued("q")
	s.call("POST", w.queue()+"/send-now", `{"expected_queue_revision":1,"interrupt":true}`).as(access.ScopeUser).do(t).want(t, 200)
	return w
}

// EV-1: everything there is, in the order of its stamps, and ids that lose nothing.
func TestStreamOwesEverything(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := busy(t, s)
		events := s.connect(t, w.task, "")
		seen := map[string]int{}
		for _, e := range events {
			seen[e.name]++
		}
		want := map[string]int{
			"task.changed": 1, "task.plan.changed": 1, "task.plan.comments.changed": 1, "session.queue.changed": 2,
			"session.messages.changed": 2, "session.interrupt": 1, "subagent.execution.changed": 1,
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		for since := int64(-1); ; {
			var rest []sse
			if since >= 0 {
				rest = s.connect(t, w.task, strconv.FormatInt(since, 10))
			} else {
				rest = events
			}
			if len(rest) == 0 {
				break
			}
			i := 0
			for rest[i].id == "" {
				i++
			}
			if rest[i].seq() <= since {
				t.Fatalf("%d comes after %d", rest[i].seq(), since)
			}
			since = rest[i].seq()
		}
	})
}

// EV-1: what counts as no Last-Event-ID.
func TestStreamIgnoresStrangeIDs(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := busy(t, s)
		all := s.connect(t, w.task, "")
		for _, id := range []string{"x", "-1", "9999999999999999999999", "999", "1.0", " "} {
			if diff := cmp.Diff(namesOf(all), namesOf(s.connect(t, w.task, id))); diff != "" {
				t.Errorf("%q:\n%s", id, diff)
			}
		}
		if last := all[len(all)-1]; len(s.connect(t, w.task, last.id)) != 0 {
			t.Error("something is owed at the end")
		}
	})
}

// The events of the table, as they are when there is nothing to show and when there is.
func TestEvents(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		task := s.task(t)
		events := s.connect(t, task, "")
		for _, e := range events {
			switch data := e.json(t); feed.Name(e.name) {
			case feed.NamePlan:
				if data["plan_id"] != nil || data["version"] != nil {
					t.Errorf("no plan is %s", e.data)
				}
			case feed.NameComments:
				if data["plan_id"] != nil || data["revision"] != 0.0 || len(data["comments"].([]any)) != 0 {
					t.Errorf("no comments are %s", e.data)
				}
			default:
			}
		}
		w := newStamping(t, s)
		content := strings.Repeat("é😀", 200) + "\r\nevent: ready\rdata: x\n\n"
		w.does(201, "POST", w.queue(), map[string]any{"client_queue_id": "q", "content": content})
		short := "\r\nevent: ready\n\ndata: {}\u2028"
		w.does(201, "POST", w.queue(), map[string]any{"client_queue_id": "r", "content": short})
		for _, e := range s.connect(t, w.task, "") {
			data := e.json(t)
			if e.name != string(feed.NameQueue) || data["session_id"] != w.session {
				continue
			}
			entries := data["entries"].([]any)
			long, other := entries[0].(map[string]any), entries[1].(map[string]any)
			preview := long["preview"].(string)
			if utf8.RuneCountInString(preview) != feed.PreviewLength || !strings.HasPrefix(content, preview) || long["size"] != float64(len(content)) {
				t.Errorf("preview %q of %v bytes", preview, long["size"])
			}
			if other["preview"] != short || other["size"] != float64(len(short)) || other["position"] != 2.0 || other["client_id"] != "r" {
				t.Errorf("entry %v", other)
			}
		}
	})
}

// An execution is told when it ends, to who was there and to who comes back; who is new
// hears of those that run.
func TestExecutionEvents(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := newStamping(t, s)
		path := w.started()
		events := s.connect(t, w.task, "")
		last := events[len(events)-1]
		if last.name != string(feed.NameExecution) || last.json(t)["status"] != "running" {
			t.Errorf("last is %v", last)
		}
		w.does(200, "PATCH", path, `{"status":"completed"}`)
		var ended []sse
		for _, e := range s.connect(t, w.task, last.id) {
			if e.name == string(feed.NameExecution) {
				ended = append(ended, e)
			}
		}
		if len(ended) != 1 || ended[0].json(t)["status"] != "completed" {
			t.Errorf("who comes back is told %v", ended)
		}
		for _, e := range s.connect(t, w.task, "") {
			if e.name == string(feed.NameExecution) {
				t.Errorf("who is new is told %v", e)
			}
		}
	})
}

// EV-7: what a child changes in files is told of the child alone, until its run ends.
func TestChildChangesAreItsOwn(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := newStamping(t, s)
		path := w.started()
		messagesOf := func(since string) (sessions []string) {
			for _, e := range s.connect(t, w.task, since) {
				if e.name == string(feed.NameMessages) {
					sessions = append(sessions, e.json(t)["session_id"].(string))
				}
			}
			return sessions
		}
		number := func() string { return strconv.FormatInt(stampsOf(t, s, w.taskID).number, 10) }
		before := number()
		w.does(200, "POST", "/v1/sessions/"+w.child+"/messages",
			`{"messages":[{"role":"assistant","content":"x","file_changes":[{"path":"p","change_type":"CREATED","before_content":"","after_content":"a"}]}]}`)
		if diff := cmp.Diff([]string{w.child}, messagesOf(before)); diff != "" {
			t.Errorf("while it runs:\n%s", diff)
		}
		before = number()
		w.does(200, "PATCH", path, `{"status":"completed"}`)
		if diff := cmp.Diff([]string{w.session}, messagesOf(before)); diff != "" {
			t.Errorf("at its end:\n%s", diff)
		}
	})
}

// EV-2: a change is told once it is there, and who reads on receipt sees it.
func TestStreamGoesOn(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := newStamping(t, s)
		f := s.follow(t, w.task, s.token[access.ScopeUser])
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": "",
		} {
			if got := f.header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		f.untilNamed(feed.NameReady)
		for revision := 1.0; revision <= 20; revision++ {
			w.does(201, "POST", w.task+"/plan/comments", w.comment())
			e := f.until(func(e sse) bool {
				return e.name == string(feed.NameComments) && e.json(t)["revision"].(float64) >= revision
			})
			if got := e.json(t)["revision"].(float64); got != revision {
				t.Errorf("told %v of %v", got, revision)
			}
			if got := s.call("GET", w.task+"/plan/comments").do(t).number(t, "revision"); float64(got) < revision {
				t.Errorf("read %d on receipt of %v", got, revision)
			}
		}
		if s.call("POST", w.task+"/plan/comments", `{"id":"x"}`).do(t).Code < 400 {
			t.Error("that is no comment")
		}
		w.does(204, "DELETE", w.task+"/plan")
		if e := f.untilNamed(feed.NamePlan); e.json(t)["version"] != nil || e.json(t)["plan_id"] != nil {
			t.Errorf("a deleted plan is %s", e.data)
		}
	})
}

// DL-8: who runs the agent hears that a person wants it to stop, also when it comes back.
func TestInterruptEvent(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := newStamping(t, s)
		turn := w.turn()[len("/v1/turns/"):]
		w.queued("q")
		f := s.follow(t, w.task, s.token[access.ScopeRunner])
		f.untilNamed(feed.NameReady)
		s.call("POST", w.queue()+"/send-now", `{"expected_queue_revision":1,"interrupt":true}`).as(access.ScopeUser).do(t).want(t, 200)
		e := f.untilNamed(feed.NameInterrupt)
		want := map[string]any{"task_id": w.taskID, "session_id": w.session, "turn_id": turn}
		if diff := cmp.Diff(want, e.json(t)); diff != "" || e.id == "" {
			t.Errorf("id %q:\n%s", e.id, diff)
		}
		w.does(200, "PATCH", "/v1/turns/"+turn, `{"state":"cancelled"}`)
		for _, e := range s.connect(t, w.task, "") {
			if e.name == string(feed.NameInterrupt) {
				t.Error("a turn that ended is asked to stop")
			}
		}
	})
}

// EV-6, EV-8: what ends a stream, and how soon.
func TestStreamIsEnded(t *testing.T) {
	for name, happens := range map[string]func(w *stamping, tokenID string){
		"revoked":         func(w *stamping, id string) { w.call("DELETE", "/v1/tokens/"+id).do(w.t).want(w.t, 204) },
		"deleted":         func(w *stamping, _ string) { w.does(204, "DELETE", w.task) },
		"the server ends": func(w *stamping, _ string) { w.hub.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			eachStack(t, func(t *testing.T, s *stack) {
				w := newStamping(t, s)
				made := s.call("POST", "/v1/tokens", `{"scope":"user"}`).do(t).want(t, 201)
				f := s.follow(t, w.task, made.text(t, "token"))
				f.untilNamed(feed.NameReady)
				happens(w, made.id(t))
				if took := f.ends(); took > 5*time.Second {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

// EV-6: by another process too, whose news does not get here.
func TestStreamIsEndedFromElsewhere(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		first, second := twoStacks(t, newURL(t))
		w := newStamping(t, first)
		made := first.call("POST", "/v1/tokens", `{"scope":"user"}`).do(t).want(t, 201)
		revoked := second.follow(t, w.task, made.text(t, "token"))
		deleted := second.follow(t, w.task, second.token[access.ScopeUser])
		revoked.untilNamed(feed.NameReady)
		deleted.untilNamed(feed.NameReady)
		first.call("DELETE", "/v1/tokens/"+made.id(t)).do(t).want(t, 204)
		revoked.ends()
		w.does(204, "DELETE", w.task)
		deleted.ends()
	})
}

// twoStacks are two servers on one database that tell each other nothing.
func twoStacks(t *testing.T, url string) (first, second *stack) {
	t.Helper()
	first = newStack(t, dbtest.Open(t, db.Options{URL: url}))
	hub := event.NewHub()
	second = buildStack(t, dbtest.Open(t, db.Options{URL: url}), hub, hub)
	second.token, second.foreign = first.token, first.foreign
	return first, second
}

// EV-4: what another process did is found when its news is lost.
func TestStreamFindsWhatWasNotTold(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		first, second := twoStacks(t, newURL(t))
		w := newStamping(t, first)
		f := second.follow(t, w.task, second.token[access.ScopeUser])
		f.untilNamed(feed.NameReady)
		for range 3 {
			w.does(201, "POST", w.task+"/plan/comments", w.comment())
			f.untilNamed(feed.NameComments)
		}
	})
}

// EV-4: two servers on one PostgreSQL.
func TestStreamAcrossProcesses(t *testing.T) {
	url := dbtest.PostgresURL(t)
	process := func() *stack {
		store, hub := dbtest.Open(t, db.Options{URL: url}), event.NewHub()
		exchange := store.Exchange(hub)
		t.Cleanup(exchange.Close)
		return buildStack(t, store, hub, exchange)
	}
	first, second := process(), process()
	first.makeTokens(t)
	second.token = first.token
	w := newStamping(t, first)
	f := second.follow(t, w.task, second.token[access.ScopeUser])
	f.untilNamed(feed.NameReady)
	for revision := 1.0; revision <= 10; revision++ {
		w.does(201, "POST", w.task+"/plan/comments", w.comment())
		f.until(func(e sse) bool {
			return e.name == string(feed.NameComments) && e.json(t)["revision"].(float64) >= revision
		})
		if got := second.call("GET", w.task+"/plan/comments").do(t).number(t, "revision"); float64(got) < revision {
			t.Errorf("read %d on receipt of %v", got, revision)
		}
	}
}

// EV-1: a stream of a task that is not there is a problem, not a stream.
func TestStreamOfNothing(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		s.call("GET", "/v1/tasks/"+domain.NewID()+"/events").do(t).wantCode(t, http.StatusNotFound, "task_not_found")
		w := newStamping(t, s)
		s.connect(t, w.task, "")
		w.does(204, "DELETE", w.task)
		s.call("GET", w.task+"/events").do(t).wantCode(t, http.StatusNotFound, "task_not_found") // its place may be remembered
	})
}

// OP-11: one stream more than a token may have is refused, until one is closed.
func TestTooManyStreams(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		task := s.task(t)
		var open []*follower
		for range streamLimit {
			open = append(open, s.follow(t, task, s.token[access.ScopeUser]))
		}
		s.call("GET", task+"/events").as(access.ScopeUser).do(t).wantCode(t, http.StatusTooManyRequests, "rate_limited")
		s.call("GET", task+"/events").as(access.ScopeRunner).do(t).want(t, 200)
		metrics := httptest.NewRecorder()
		handlers.MetricsHandler(s.metrics).ServeHTTP(metrics, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		for _, line := range []string{
			"gatehouse_event_subscribers " + strconv.Itoa(streamLimit), `gatehouse_event_disconnects_total{reason="left"} 1`,
			`gatehouse_event_disconnects_total{reason="slow"} 0`,
		} {
			if !strings.Contains(metrics.Body.String(), line+"\n") {
				t.Errorf("metrics lack %s", line)
			}
		}
		if strings.Contains(metrics.Body.String(), `duration_seconds_count{method="GET",route="/v1/tasks/{task_id}/events"}`) {
			t.Error("a stream has a latency")
		}
		open[0].leave()
		for s.call("GET", task+"/events").as(access.ScopeUser).do(t).Code != http.StatusOK {
			time.Sleep(time.Millisecond) // until the server has noticed
		}
	})
}
