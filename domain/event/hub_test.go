package event_test

import (
	"sync"
	"testing"

	"gatehouse/domain/event"
)

// unread is what a subscription holds, -1 for nothing and -2 when it has ended.
func unread(s *event.Subscription) int64 {
	select {
	case seq, open := <-s.C():
		if !open {
			return -2
		}
		return seq
	default:
		return -1
	}
}

func want(t *testing.T, s *event.Subscription, seq int64) {
	t.Helper()
	if got := unread(s); got != seq {
		t.Errorf("unread is %d, want %d", got, seq)
	}
}

// EV-5: news coalesces into the greatest number, and other tasks hear nothing.
func TestHubWakesTheSubscribersOfATask(t *testing.T) {
	hub := event.NewHub()
	first, second, other := hub.Subscribe("a"), hub.Subscribe("a"), hub.Subscribe("b")
	for _, seq := range []int64{3, 5, 4} {
		if err := hub.Publish(t.Context(), event.Notice{TaskID: "a", Seq: seq}); err != nil {
			t.Fatal(err)
		}
	}
	want(t, first, 5)
	want(t, first, -1)
	want(t, second, 5)
	want(t, other, -1)

	hub.Wake("a", 7)
	hub.WakeAll() // does not hide a number
	want(t, first, 7)
	want(t, other, 0)
}

func TestHubForgetsWhoHasLeft(t *testing.T) {
	hub := event.NewHub()
	left, stays := hub.Subscribe("a"), hub.Subscribe("a")
	left.Close()
	left.Close()
	hub.Wake("a", 1)
	want(t, left, -1)
	want(t, stays, 1)
}

// EV-8: a hub that ends wakes everybody for good.
func TestHubEnds(t *testing.T) {
	hub := event.NewHub()
	before := hub.Subscribe("a")
	hub.Wake("a", 1)
	hub.Close()
	hub.Close()
	hub.Wake("a", 2)
	hub.WakeAll()
	want(t, before, 1)
	want(t, before, -2)
	want(t, hub.Subscribe("a"), -2)
	before.Close()
}

// Nobody who publishes waits for a reader, and whoever reads last sees the last number.
func TestHubUnderLoad(t *testing.T) {
	const publishers, notices = 8, 200
	hub := event.NewHub()
	idle, reader := hub.Subscribe("a"), hub.Subscribe("a")
	var publishing sync.WaitGroup
	for range publishers {
		publishing.Go(func() {
			for seq := range int64(notices) {
				hub.Wake("a", seq+1)
				hub.Subscribe("a").Close()
			}
		})
	}
	for last := int64(0); last < notices; {
		last = max(last, <-reader.C())
	}
	publishing.Wait()
	want(t, idle, notices)
}
