package event

import (
	"context"
	"sync"
)

// Hub wakes whoever in this process waits for changes of a task: runners that wait
// for deliveries (DL-13), and streams of events. It implements [Publisher]. All its
// methods may be called at any time from anywhere; none of them waits for a reader.
type Hub struct {
	mu            sync.Mutex
	subscriptions map[string]map[*Subscription]struct{} // by task
	closed        bool
}

// NewHub returns a Hub that nobody has subscribed to.
func NewHub() *Hub {
	return &Hub{subscriptions: map[string]map[*Subscription]struct{}{}}
}

// Subscription is the news of one task for one reader. However much happens while
// nobody reads, it holds one number: the news is that something changed, and the
// reader looks at what there is (EV-5).
type Subscription struct {
	hub    *Hub
	taskID string
	c      chan int64
}

// C gives the greatest change number of the task that was told since the last
// read, 0 where only that something may have changed is known. It is closed when
// the hub ends.
func (s *Subscription) C() <-chan int64 { return s.c }

// Subscribe subscribes to a task, which need not exist. What was committed before
// is not told: subscribe first, then look. The caller closes the subscription.
func (h *Hub) Subscribe(taskID string) *Subscription {
	s := &Subscription{hub: h, taskID: taskID, c: make(chan int64, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(s.c)
		return s
	}
	if h.subscriptions[taskID] == nil {
		h.subscriptions[taskID] = map[*Subscription]struct{}{}
	}
	h.subscriptions[taskID][s] = struct{}{}
	return s
}

// Close ends the subscription. Closing it again changes nothing.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	of := s.hub.subscriptions[s.taskID]
	delete(of, s)
	if len(of) == 0 {
		delete(s.hub.subscriptions, s.taskID)
	}
}

// Publish implements Publisher. It never fails.
func (h *Hub) Publish(_ context.Context, n Notice) error {
	h.Wake(n.TaskID, n.Seq)
	return nil
}

// Wake tells the subscribers of a task that it changed, up to the number seq.
func (h *Hub) Wake(taskID string, seq int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subscriptions[taskID] {
		s.tell(seq)
	}
}

// WakeAll tells every subscriber that something may have changed: news was lost.
func (h *Hub) WakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range h.subscriptions {
		for s := range of {
			s.tell(0)
		}
	}
}

// tell leaves seq for the reader, or the greater number that it has not read yet.
// The hub is locked, so nobody else writes: there is room.
func (s *Subscription) tell(seq int64) {
	select {
	case unread := <-s.c:
		seq = max(seq, unread)
	default:
	}
	s.c <- seq
}

// Close ends every subscription, those to come included, so that nobody waits for
// a server that ends (EV-8). Closing it again changes nothing.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	for _, of := range h.subscriptions {
		for s := range of {
			close(s.c)
		}
	}
	clear(h.subscriptions)
}
