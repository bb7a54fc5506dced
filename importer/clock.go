package importer

import (
	"sync"
	"time"

	"gatehouse/domain"
)

// Clock shows the time that the transcript being loaded has come to, so that what the
// operations of the domain write has the times of what happened. Before any line
// tells, it shows that of another clock.
type Clock struct {
	other domain.Clock
	mu    sync.Mutex
	at    time.Time
}

// NewClock returns a clock that shows the time of other until a transcript tells.
func NewClock(other domain.Clock) *Clock { return &Clock{other: other} }

// Now is a domain.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return c.other()
	}
	return c.at
}

// set makes the clock show a time; the zero one leaves it as it is.
func (c *Clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !at.IsZero() {
		c.at = at.UTC().Truncate(time.Microsecond)
	}
}

// reset forgets the time of a transcript.
func (c *Clock) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Time{}
}
