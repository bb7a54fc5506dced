package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"gatehouse/domain/feed"
)

// socketClient is a client of the WebSocket. A goroutine reads what comes.
type socketClient struct {
	*websocket.Conn

	t       *testing.T
	n       int
	answers chan map[string]any
	events  chan socketEvent
	ended   chan struct{}
	end     error // why it ended, after ended
}

// socketEvent is an event as a client has it.
type socketEvent struct {
	sse

	taskID string
}

// socketServer serves a stack on connections.
func (s *stack) socketServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(s.untilTheEnd(t))
	t.Cleanup(server.Close)
	return server
}

// untilTheEnd is the stack as a handler whose connections end with the test, which waits
// for them: no server knows of those that became WebSockets.
func (s *stack) untilTheEnd(t *testing.T) http.Handler {
	t.Helper()
	var running sync.WaitGroup
	t.Cleanup(func() {
		s.sockets.Close()
		running.Wait()
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		s.ServeHTTP(w, r)
	})
}

// dial opens a WebSocket that nobody has authenticated, or returns the status that is
// answered in its place.
func dial(t *testing.T, server *httptest.Server, header http.Header) (_ *socketClient, refused int) {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(), server.URL+"/v1/ws", &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		if answer == nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return nil, answer.StatusCode
	}
	conn.SetReadLimit(64 << 20)
	c := &socketClient{Conn: conn, t: t, answers: make(chan map[string]any, 100), events: make(chan socketEvent, 1000), ended: make(chan struct{})}
	go c.read()
	t.Cleanup(func() {
		_ = conn.CloseNow()
		<-c.ended
	})
	return c, 0
}

func (c *socketClient) read() {
	defer close(c.ended)
	for {
		_, data, err := c.Read(context.Background())
		if err != nil {
			c.end = err
			return
		}
		var m struct {
			Type    string
			Event   string
			TaskID  string `json:"task_id"`
			Seq     *int64
			Payload json.RawMessage
		}
		if err := json.Unmarshal(data, &m); err != nil {
			c.t.Errorf("%v in %s", err, data)
			return
		}
		if m.Type != "event" {
			var answer map[string]any
			_ = json.Unmarshal(data, &answer)
			c.answers <- answer
			continue
		}
		e := socketEvent{sse{name: m.Event, data: string(m.Payload)}, m.TaskID}
		if m.Seq != nil {
			e.id = strconv.FormatInt(*m.Seq, 10)
		}
		e.check(c.t)
		c.events <- e
	}
}

// stranger opens a WebSocket that nobody has authenticated.
func (s *stack) stranger(t *testing.T, server *httptest.Server, header http.Header) *socketClient {
	t.Helper()
	c, refused := dial(t, server, header)
	if refused != 0 {
		t.Fatalf("refused with %d", refused)
	}
	return c
}

// socket opens a WebSocket and authenticates.
func (s *stack) socket(t *testing.T, token string) *socketClient {
	t.Helper()
	c := s.stranger(t, s.socketServer(t), nil)
	c.asks("auth", map[string]any{"token": token}).is("response")
	return c
}

// socketReply is the answer to a request.
type socketReply struct {
	t *testing.T
	m map[string]any
}

// asks sends a request and waits for its answer.
func (c *socketClient) asks(action string, payload map[string]any) socketReply {
	c.t.Helper()
	c.n++
	id := fmt.Sprintf("r%d", c.n)
	data, err := json.Marshal(map[string]any{"id": id, "action": action, "payload": payload})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.says(string(data)).of(id)
}

// says sends a text and waits for an answer.
func (c *socketClient) says(text string) socketReply {
	c.t.Helper()
	if err := c.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
	return c.answer()
}

func (c *socketClient) answer() socketReply {
	c.t.Helper()
	select {
	case m := <-c.answers:
		return socketReply{c.t, m}
	default:
	}
	select {
	case m := <-c.answers:
		return socketReply{c.t, m}
	case <-c.ended:
		select {
		case m := <-c.answers:
			return socketReply{c.t, m}
		default:
			c.t.Fatalf("ended without an answer: %v", c.end)
		}
	case <-time.After(time.Minute): // hangs otherwise
		c.t.Fatal("no answer")
	}
	panic("unreachable")
}

// of fails the test unless the answer has an id.
func (r socketReply) of(id string) socketReply {
	r.t.Helper()
	if r.m["id"] != id {
		r.t.Fatalf("answer %v, want that of %q", r.m, id)
	}
	return r
}

// is fails the test unless the answer is of a type.
func (r socketReply) is(kind string) map[string]any {
	r.t.Helper()
	if r.m["type"] != kind {
		r.t.Fatalf("answer %v, want a %s", r.m, kind)
	}
	return r.m["payload"].(map[string]any)
}

// fails fails the test unless the answer is a problem of a code.
func (r socketReply) fails(code string) {
	r.t.Helper()
	if got := r.is("error")["code"]; got != code {
		r.t.Fatalf("code %v, want %s", got, code)
	}
}

// untilReady are the events up to the next ready, without it.
func (c *socketClient) untilReady() (events []sse) {
	c.t.Helper()
	for {
		e := c.next()
		if e.name == string(feed.NameReady) {
			return events
		}
		events = append(events, e.sse)
	}
}

func (c *socketClient) next() socketEvent {
	c.t.Helper()
	select {
	case e := <-c.events:
		return e
	case <-c.ended:
		c.t.Fatalf("ended: %v", c.end)
	case <-time.After(time.Minute): // hangs otherwise
		c.t.Fatal("no event")
	}
	panic("unreachable")
}

// closes waits for the end and fails the test unless the server closed it with a code.
func (c *socketClient) closes(code websocket.StatusCode) {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(time.Minute):
		c.t.Fatal("goes on")
	}
	if got := websocket.CloseStatus(c.end); got != code {
		c.t.Errorf("closed with %v, %v, want %v", got, c.end, code)
	}
}

// overPipes opens a WebSocket on a connection without a buffer, and authenticates.
func (s *stack) overPipes(t *testing.T, token string) *websocket.Conn {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn)}
	server := &http.Server{Handler: s.untilTheEnd(t), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	conn, _, err := websocket.Dial(t.Context(), "http://localhost/v1/ws", &websocket.DialOptions{HTTPClient: &http.Client{ //nolint:bodyclose // of an upgrade
		Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			l.conns <- theirs
			return ours, nil
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(64 << 20)
	send(t, conn, `{"id":"a","action":"auth","payload":{"token":"`+token+`"}}`)
	if _, _, err := conn.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	return conn
}

func send(t *testing.T, c *websocket.Conn, text string) {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}
