package storetest

import (
	"sync"
	"testing"
	"time"

	"gatehouse/domain/prompt"
)

// counter is an observer that keeps what it was told last.
type counter struct {
	mu        sync.Mutex
	recovered map[prompt.Recovery]int
	delivered map[prompt.Outcome]int
	lost      int
	backlog   prompt.Backlog
}

func newCounter() *counter {
	return &counter{recovered: make(map[prompt.Recovery]int), delivered: make(map[prompt.Outcome]int)}
}

// Admitted implements prompt.Observer.
func (c *counter) Admitted(prompt.Kind, string) {}

// Delivered implements prompt.Observer.
func (c *counter) Delivered(o prompt.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delivered[o]++
}

// LeaseLost implements prompt.Observer.
func (c *counter) LeaseLost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost++
}

// Recovered implements prompt.Observer.
func (c *counter) Recovered(how prompt.Recovery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recovered[how]++
}

// Owed implements prompt.Observer.
func (c *counter) Owed(b prompt.Backlog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.backlog = b
}

// counted lets the operations of w be counted.
func (w *promptWorld) counted() *counter {
	c := newCounter()
	w.prompts = w.serving(prompt.Config{Observer: c})
	return c
}

func (w *promptWorld) recover(t *testing.T) {
	t.Helper()
	if err := w.prompts.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// attemptedLongAgo makes an attempt older, as time would.
func (w *promptWorld) attemptedLongAgo(t *testing.T, r prompt.Reservation, age time.Duration) {
	t.Helper()
	w.age(t, r, prompt.StateAttempted, func(d *prompt.Delivery, now time.Time) { d.AttemptedAt = new(now.Add(-age)) })
}
