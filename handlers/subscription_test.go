package handlers_test

import (
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/feed"
	"gatehouse/handlers"
)

// EV-1: a subscription is owed what a stream is, with the same numbers; comes back
// with the last of them; and ends when its client says so.
func TestSubscription(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := busy(t, s)
		c := s.socket(t, s.token[access.ScopeUser])
		c.asks("task.subscribe", map[string]any{"task_id": strings.ToUpper(w.taskID)}).is("response")
		got, want := c.untilReady(), s.connect(t, w.task, "")
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(sse{})); diff != "" {
			t.Errorf("events (-SSE +WebSocket):\n%s", diff)
		}
		w.does(201, "POST", w.task+"/plan/comments", but(w.comment(), "body", "a\r\n\r\nevent: ready\ndata: x"))
		e := c.next()
		if e.name != string(feed.NameComments) || e.taskID != w.taskID || !strings.Contains(e.data, `event: ready\ndata: x`) {
			t.Errorf("got %v", e)
		}
		c.asks("task.unsubscribe", map[string]any{"task_id": w.taskID}).is("response")
		w.does(200, "PATCH", w.task, `{"title":"unseen"}`)

		c.asks("task.subscribe", map[string]any{"task_id": w.taskID, "last_seq": e.seq()}).is("response")
		if got := namesOf(c.untilReady()); !cmp.Equal(got, []string{"task.changed"}) {
			t.Errorf("came back to %v", got)
		}
		for _, last := range []any{nil, "x", -1, 1e9, 1.5, []any{}} {
			c.asks("task.subscribe", map[string]any{"task_id": w.taskID, "last_seq": last}).is("response") // anew
			if got := c.untilReady(); len(got) < len(want) {
				t.Errorf("after %v: %v", last, namesOf(got))
			}
		}
		problem := c.asks("task.subscribe", map[string]any{"task_id": w.taskID, "since": 1}).is("error")
		if field(problem["errors"].([]any)[0]) != "/body/since" {
			t.Errorf("got %v", problem)
		}
	})
}

// OP-11: subscriptions are streams, of which a token has so many; OP-8: they are counted.
func TestSubscriptionsAreStreams(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		c := s.socket(t, s.token[access.ScopeUser])
		first := s.task(t)
		id := func(task string) map[string]any {
			return map[string]any{"task_id": strings.TrimPrefix(task, "/v1/tasks/")}
		}
		c.asks("task.subscribe", id(first)).is("response")
		for range streamLimit - 1 {
			c.asks("task.subscribe", id(s.task(t))).is("response")
		}
		c.asks("task.subscribe", id(s.task(t))).fails("rate_limited")
		c.asks("task.subscribe", id(first)).is("response") // in the place of its own
		s.wantMetrics(t, "gatehouse_event_subscribers "+strconv.Itoa(streamLimit), "gatehouse_websocket_connections 1")
		c.asks("task.unsubscribe", id(first)).is("response")
		c.asks("task.subscribe", id(s.task(t))).is("response")
		s.wantMetrics(t, `gatehouse_event_disconnects_total{reason="left"} 2`)
	})
}

func (s *stack) wantMetrics(t *testing.T, lines ...string) {
	t.Helper()
	metrics := httptest.NewRecorder()
	handlers.MetricsHandler(s.metrics).ServeHTTP(metrics, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	for _, line := range lines {
		if !strings.Contains(metrics.Body.String(), line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
}

// EV-6: a task that is deleted ends its subscription and no other; a token that is
// revoked ends the connection.
func TestSubscriptionIsEnded(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w, other := newStamping(t, s), newStamping(t, s)
		made := s.call("POST", "/v1/tokens", `{"scope":"user"}`).do(t).want(t, 201)
		c := s.socket(t, made.text(t, "token"))
		c.asks("task.subscribe", map[string]any{"task_id": other.taskID}).is("response")
		reply := c.asks("task.subscribe", map[string]any{"task_id": w.taskID})
		reply.is("response")
		c.untilReady()
		c.untilReady()
		w.does(204, "DELETE", w.task)
		c.answer().of(reply.m["id"].(string)).fails("task_not_found")
		other.does(200, "PATCH", other.task, `{"title":"goes on"}`)
		if e := c.next(); e.taskID != other.taskID {
			t.Errorf("got %v", e)
		}
		began := time.Now()
		s.call("DELETE", "/v1/tokens/"+made.id(t)).do(t).want(t, 204)
		c.answer().fails("unauthenticated")
		c.closes(websocket.StatusPolicyViolation)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// manyComments makes a snapshot long.
func manyComments(w *stamping) {
	for range 20 {
		w.does(201, "POST", w.task+"/plan/comments", but(w.comment(), "body", strings.Repeat("x", 8000)))
	}
}

// EV-5: who does not read is cut off, and nobody else notices.
func TestDeafSubscriber(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		s.sockets.Hasten(time.Minute, 100*time.Millisecond, time.Minute)
		w := newStamping(t, s)
		manyComments(w)
		deaf, other := s.overPipes(t, s.token[access.ScopeUser]), s.socket(t, s.token[access.ScopeUser])
		send(t, deaf, `{"id":"s","action":"task.subscribe","payload":{"task_id":"`+w.taskID+`"}}`)
		other.asks("task.subscribe", map[string]any{"task_id": w.taskID}).is("response")
		other.untilReady()
		w.does(200, "PATCH", w.task, `{"title":"new"}`)
		if e := other.next(); e.name != string(feed.NameTask) {
			t.Errorf("got %v", e)
		}
		const cut = `gatehouse_event_disconnects_total{reason="slow"} 1`
		for !s.hasMetric(t, cut) {
			time.Sleep(time.Millisecond) // until the server has noticed
		}
		s.wantMetrics(t, "gatehouse_event_subscribers 1")
	})
}

func (s *stack) hasMetric(t *testing.T, line string) bool {
	t.Helper()
	metrics := httptest.NewRecorder()
	handlers.MetricsHandler(s.metrics).ServeHTTP(metrics, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return strings.Contains(metrics.Body.String(), line+"\n")
}

// EV-6: a token that is revoked ends a subscription also while a snapshot is being read.
func TestSubscriptionIsRevokedWhileItIsRead(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		w := newStamping(t, s)
		manyComments(w)
		made := s.call("POST", "/v1/tokens", `{"scope":"user"}`).do(t).want(t, 201)
		c := s.overPipes(t, made.text(t, "token"))
		send(t, c, `{"id":"s","action":"task.subscribe","payload":{"task_id":"`+w.taskID+`"}}`)
		r := middleOf(t, c, feed.NameComments)
		s.call("DELETE", "/v1/tokens/"+made.id(t)).do(t).want(t, 204)
		for !s.hasMetric(t, `gatehouse_event_disconnects_total{reason="revoked"} 1`) {
			_, _ = r.Read(make([]byte, 1024))
			time.Sleep(10 * time.Millisecond) // reads on, slowly
		}
	})
}

// middleOf reads messages up to the middle of an event of a name.
func middleOf(t *testing.T, c *websocket.Conn, name feed.Name) io.Reader {
	t.Helper()
	for {
		_, r, err := c.Reader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 128)
		if _, err := io.ReadFull(r, head); err == nil && strings.Contains(string(head), string(name)) {
			return r
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Fatal(err)
		}
	}
}

// EV-1, EV-4: a client of WebSockets that is cut off anywhere, and comes back to another
// server each time, ends with what a new one gets.
func TestSubscriptionCutAnywhere(t *testing.T) {
	const steps = 60
	eachStack(t, func(t *testing.T, first *stack) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		c := &crowd{Rand: rand.New(rand.NewPCG(seed, 0)), t: t, stacks: []*stack{first}, w: newStamping(t, first)}
		client := first.socket(t, first.token[access.ScopeUser])
		v := view{}
		var since any
		come := func(all bool) {
			client.asks("task.subscribe", map[string]any{"task_id": c.w.taskID, "last_seq": since}).is("response")
			events := client.untilReady()
			if !all && len(events) > 0 {
				events = events[:c.IntN(len(events)+1)]
			}
			client.asks("task.unsubscribe", map[string]any{"task_id": c.w.taskID}).is("response")
			for _, e := range events {
				v.see(t, e)
				if e.id != "" {
					since = e.seq()
				}
			}
		}
		for range steps {
			moves[c.IntN(len(moves))](c)
			if c.IntN(2) == 0 {
				come(false)
			}
		}
		come(true)
		fresh := view{}
		for _, e := range first.connect(t, c.w.task, "") {
			fresh.see(t, e)
		}
		if diff := cmp.Diff(fresh, v); diff != "" {
			t.Fatalf("(-fresh +cut):\n%s", strings.ReplaceAll(diff, `\"`, `"`))
		}
	})
}

// EV-6: a subscription of nothing is a problem.
func TestSubscriptionOfNothing(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		c := s.socket(t, s.token[access.ScopeUser])
		c.asks("task.subscribe", map[string]any{"task_id": domain.NewID()}).fails("task_not_found")
		w := newStamping(t, s)
		c.asks("task.subscribe", map[string]any{"task_id": w.taskID}).is("response")
		c.untilReady()
	})
}

// OP-8, OP-11: whatever connections do at once, and however they end, nothing of them
// stays: no stream, no place of the token.
func TestSocketsLeaveNothingBehind(t *testing.T) {
	eachStack(t, func(t *testing.T, s *stack) {
		server := s.socketServer(t)
		tasks := []*stamping{newStamping(t, s), newStamping(t, s)}
		var all sync.WaitGroup
		for n := range 4 * streamLimit {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(n), 0))
				conn, _, err := websocket.Dial(t.Context(), server.URL+"/v1/ws", nil) //nolint:bodyclose // of an upgrade
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = conn.CloseNow() }()
				says := func(text string) { _ = conn.Write(t.Context(), websocket.MessageText, []byte(text)) } // it may be refused by now
				says(`{"id":"a","action":"auth","payload":{"token":"` + s.token[access.ScopeUser] + `"}}`)
				for range random.IntN(8) {
					action := []string{"subscribe", "subscribe", "unsubscribe"}[random.IntN(3)]
					says(`{"id":"b","action":"task.` + action + `","payload":{"task_id":"` + tasks[random.IntN(2)].taskID + `"}}`)
					if random.IntN(2) == 0 {
						_, _, _ = conn.Read(t.Context())
					}
				}
				if random.IntN(2) == 0 {
					_ = conn.Close(websocket.StatusNormalClosure, "")
				}
			})
		}
		for i := range 20 {
			tasks[i%2].does(200, "PATCH", tasks[i%2].task, `{"title":"t`+strconv.Itoa(i)+`"}`)
		}
		all.Wait()
		s.sockets.Close()
		s.sockets.Wait()
		s.wantMetrics(t, "gatehouse_event_subscribers 0", "gatehouse_websocket_connections 0")
		for range streamLimit {
			s.follow(t, tasks[0].task, s.token[access.ScopeUser]).untilNamed(feed.NameReady)
		}
	})
}
