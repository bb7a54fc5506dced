package handlers_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"gatehouse/domain/access"
	"gatehouse/domain/feed"
	"gatehouse/gen"
)

// sse is one event as a client has it.
type sse struct {
	name string
	id   string // "" for none
	data string
}

// seq is the number in the id, -1 for none.
func (e sse) seq() int64 {
	n, err := strconv.ParseInt(e.id, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (e sse) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(e.data), &v); err != nil {
		t.Fatalf("%v in %s", err, e.data)
	}
	return v
}

// eventForms are the schemas of the contract by the names of events.
var eventForms = map[feed.Name]string{
	feed.NameTask: "TaskEvent", feed.NamePlan: "PlanEvent", feed.NameComments: "CommentsEvent", feed.NameQueue: "QueueEvent",
	feed.NameMessages: "MessagesEvent", feed.NameInterrupt: "InterruptEvent", feed.NameExecution: "Execution", feed.NameReady: "ReadyEvent",
}

// contractOfEvents is read once: there are many events.
var contractOfEvents = sync.OnceValues(gen.GetSpec)

// check holds an event against the contract.
func (e sse) check(t *testing.T) {
	t.Helper()
	doc, err := contractOfEvents()
	if err != nil {
		t.Fatal(err)
	}
	form := doc.Components.Schemas[eventForms[feed.Name(e.name)]]
	if form == nil {
		t.Fatalf("event %q is none of the contract", e.name)
	}
	closed := *form.Value
	closed.AdditionalProperties = openapi3.AdditionalProperties{Has: new(false)}
	if err := closed.VisitJSON(any(e.json(t)), openapi3.EnableFormatValidation()); err != nil {
		t.Errorf("%s breaks the contract: %v", e.name, err)
	}
}

// readEvent reads the next event the way a client does, or returns false at the end.
func readEvent(t *testing.T, r *bufio.Reader) (e sse, ok bool) {
	t.Helper()
	for e.name == "" && e.data == "" {
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return sse{}, false
			}
			if line = strings.TrimSuffix(line, "\n"); line == "" {
				break
			}
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data += value
			case "":
			default:
				t.Errorf("a client does not know %q", line)
			}
		}
	}
	e.check(t)
	return e, true
}

// readEvents reads all events of a body.
func readEvents(t *testing.T, body string) (events []sse) {
	t.Helper()
	r := bufio.NewReader(strings.NewReader(body))
	for {
		e, ok := readEvent(t, r)
		if !ok {
			return events
		}
		events = append(events, e)
	}
}

func namesOf(events []sse) (names []string) {
	for _, e := range events {
		names = append(names, e.name)
	}
	return names
}

// connect reads what a stream owes until it is ready. since is the Last-Event-ID, "" for
// none.
func (s *stack) connect(t *testing.T, taskPath, since string) []sse {
	t.Helper()
	c := s.call("GET", taskPath+"/events").as(access.ScopeUser)
	if since != "" {
		c.set("Last-Event-ID", since)
	}
	events := readEvents(t, c.do(t).want(t, 200).Body.String())
	if n := len(events); n == 0 || events[n-1].name != string(feed.NameReady) || events[n-1].id != "" {
		t.Fatalf("not ready: %v", events)
	}
	return events[:len(events)-1]
}

// follower reads a stream over a connection of its own.
type follower struct {
	t      *testing.T
	header http.Header
	events chan sse
	ended  chan struct{}
	leave  context.CancelFunc
}

// follow opens a stream that is read until it ends, or the test does.
func (s *stack) follow(t *testing.T, taskPath, token string) *follower {
	t.Helper()
	server := httptest.NewServer(s)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+taskPath+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Accept-Encoding", "gzip")
	a, err := server.Client().Do(r) //nolint:bodyclose // the end of the test closes it
	if err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", a, err)
	}
	f := &follower{t: t, header: a.Header, events: make(chan sse, 1000), ended: make(chan struct{}), leave: leave}
	go func() {
		defer close(f.ended)
		body := bufio.NewReader(a.Body)
		for {
			e, ok := readEvent(t, body)
			if !ok {
				return
			}
			f.events <- e
		}
	}()
	t.Cleanup(func() {
		leave()
		<-f.ended
		_ = a.Body.Close()
		server.Close()
	})
	return f
}

// until returns the next event that is wanted, which comes soon.
func (f *follower) until(wanted func(e sse) bool) sse {
	f.t.Helper()
	over := time.After(time.Minute) // hangs otherwise
	for {
		select {
		case e := <-f.events:
			if wanted(e) {
				return e
			}
		case <-f.ended:
			f.t.Fatal("the stream has ended")
		case <-over:
			f.t.Fatal("the event does not come")
		}
	}
}

// untilNamed returns the next event of a name.
func (f *follower) untilNamed(name feed.Name) sse {
	f.t.Helper()
	return f.until(func(e sse) bool { return e.name == string(name) })
}

// ends waits for the end of the stream, which is soon, and returns how long it took.
func (f *follower) ends() time.Duration {
	f.t.Helper()
	began := time.Now()
	select {
	case <-f.ended:
	case <-time.After(time.Minute):
		f.t.Fatal("the stream goes on")
	}
	return time.Since(began)
}

// view is what a client knows of a task from its events.
type view map[string]string

// see takes an event in, as a client does: a snapshot stands in the place of the one
// before it. What goes with a session goes when the session does; runs that ended are
// not kept.
func (v view) see(t *testing.T, e sse) {
	t.Helper()
	data := e.json(t)
	key := e.name
	switch feed.Name(e.name) {
	case feed.NameTask:
		delete(data["task"].(map[string]any), "change_seq")
		v.forget(data["sessions"].([]any))
	case feed.NameQueue, feed.NameMessages:
		key += " " + data["session_id"].(string)
	case feed.NameExecution:
		key += " " + data["id"].(string)
		if data["status"] != "running" {
			delete(v, key)
			return
		}
	case feed.NameInterrupt, feed.NameReady:
		return
	default: // of the task, one of each
	}
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	v[key] = string(text)
}

func (v view) forget(sessions []any) {
	for key := range v {
		id, ok := strings.CutPrefix(key, string(feed.NameQueue)+" ")
		if !ok {
			if id, ok = strings.CutPrefix(key, string(feed.NameMessages)+" "); !ok {
				continue
			}
		}
		if !slices.ContainsFunc(sessions, func(s any) bool { return s.(map[string]any)["id"] == id }) {
			delete(v, key)
		}
	}
}
