package handlers

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"

	"gatehouse/domain"
	"gatehouse/domain/feed"
)

// subscription is a stream of events whose events go to a WebSocket. It is an
// [eventSink] of the operation that a client of SSE calls.
type subscription struct {
	socket  *socket
	id      string // of the request for it
	taskID  string
	cancel  context.CancelFunc
	settled chan struct{} // closed when the request was answered
	answer  sync.Once
	stream  atomic.Pointer[func() error] // why the stream has ended, once there is one
	done    chan struct{}                // closed when nothing more is sent
}

// subscribe starts a subscription, or starts the one of the task anew, and answers.
func (s *socket) subscribe(ctx context.Context, r socketRequest) error {
	for name := range r.Payload {
		if name != "task_id" && name != "last_seq" {
			return s.fail(ctx, r.ID, domain.Invalid(memberField(name), domain.ProblemUnknown, "is not known here"))
		}
	}
	taskID := taskOfPayload(r.Payload)
	s.leaveTask(taskID)
	ctx, cancel := context.WithCancel(ctx)
	sub := &subscription{socket: s, id: r.ID, taskID: taskID, cancel: cancel, settled: make(chan struct{}), done: make(chan struct{})}
	s.mu.Lock()
	s.subscriptions[taskID] = sub
	s.mu.Unlock()
	go sub.run(ctx, r.Payload)
	<-sub.settled
	return nil
}

// memberField is where a member stands that nobody knows, without text of people.
func memberField(name string) string {
	if !publicName.MatchString(name) {
		return "/body"
	}
	return "/body/" + name
}

// unsubscribe ends the subscription of a task, if there is one. When it is answered,
// nothing more of the task is sent.
func (s *socket) unsubscribe(ctx context.Context, r socketRequest) error {
	s.leaveTask(taskOfPayload(r.Payload))
	return s.send(ctx, socketAnswer{r.ID, socketResponse, struct{}{}})
}

// taskOfPayload is the task that a payload names, in the form of ids that are stored.
func taskOfPayload(payload map[string]json.RawMessage) string {
	id := plainText(payload["task_id"])
	if canonical, ok := domain.ParseID(id); ok {
		return canonical
	}
	return id
}

// leaveTask ends the subscription of a task and waits for it.
func (s *socket) leaveTask(taskID string) {
	s.mu.Lock()
	sub := s.subscriptions[taskID]
	s.mu.Unlock()
	if sub != nil {
		sub.cancel()
		<-sub.done
	}
}

// leaveAll ends all subscriptions and waits for them.
func (s *socket) leaveAll() {
	s.mu.Lock()
	var tasks []string
	for id := range s.subscriptions {
		tasks = append(tasks, id)
	}
	s.mu.Unlock()
	for _, id := range tasks {
		s.leaveTask(id)
	}
}

// run is the subscription's life. What is wrong at its begin is the answer.
func (sub *subscription) run(ctx context.Context, payload map[string]json.RawMessage) {
	defer close(sub.done)
	defer sub.forget()
	defer sub.cancel()
	answer, err := sub.socket.do(withEventSink(ctx, sub), sub.socket.server.actions[actionSubscribe], payload)
	sub.settle(func() {
		if err != nil {
			_ = sub.socket.fail(ctx, sub.id, err)
			return
		}
		_ = sub.socket.send(ctx, answer.answer(sub.id))
	})
}

// forget takes it from its connection.
func (sub *subscription) forget() {
	s := sub.socket
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subscriptions[sub.taskID] == sub {
		delete(s.subscriptions, sub.taskID)
	}
}

// settle answers the request, once.
func (sub *subscription) settle(answer func()) {
	sub.answer.Do(func() {
		answer()
		close(sub.settled)
	})
}

// begin implements eventSink.
func (sub *subscription) begin(ctx context.Context, over func() error) {
	sub.stream.Store(&over)
	sub.settle(func() { _ = sub.socket.send(ctx, socketAnswer{sub.id, socketResponse, struct{}{}}) })
}

// over is why its stream has ended, nil while it goes on.
func (sub *subscription) over() error {
	if over := sub.stream.Load(); over != nil {
		return (*over)()
	}
	return nil
}

// batch implements eventSink.
func (sub *subscription) batch(ctx context.Context, b feed.Batch) error {
	for _, e := range b.Events {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := sub.socket.write(ctx, eventMessage(sub.taskID, e)); err != nil {
			return err
		}
	}
	return nil
}

// heartbeat implements eventSink: the connection has its own.
func (sub *subscription) heartbeat() error { return nil }

// end implements eventSink. A client whose subscription we end is told why, by the id
// of its request.
func (sub *subscription) end(ctx context.Context, why feed.Reason, err error) {
	switch why {
	case feed.ReasonDeleted, feed.ReasonFailed:
		_ = sub.socket.fail(ctx, sub.id, err)
	case feed.ReasonRevoked:
		sub.socket.parting.Store(true)
		_ = sub.socket.fail(ctx, sub.id, err)
		sub.socket.close(websocket.StatusPolicyViolation, "the token is in force no more")
	case feed.ReasonSlow, feed.ReasonLeft, feed.ReasonStopping: // the connection is closed, or the client wanted it
	}
}
