package storetest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"gatehouse/domain/event"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// patience bounds how long a case waits for what comes at once.
const patience = time.Minute

// never is after how long a reserve looks by itself where it must be woken.
const never = time.Hour

// awaitWorld is a promptWorld with somebody who waits.
type awaitWorld struct {
	*promptWorld
	hub         *event.Hub
	cycle       *lifecycle.Service
	waiter      *prompt.Service
	woken       chan struct{} // receives each time the waiter was woken, while somebody waits for that
	reservation prompt.Reservation
}

// newAwaitWorld lets the operations of w tell publisher, or the hub where it is nil.
func newAwaitWorld(t *testing.T, w *promptWorld, hub *event.Hub, publisher event.Publisher) *awaitWorld {
	t.Helper()
	if publisher == nil {
		publisher = hub
	}
	announce := event.NewAnnouncer(publisher, slog.New(slog.NewTextHandler(t.Output(), nil)))
	w.tasks = task.NewService(w.store.Tasks(), w.clock, announce)
	w.sessions = session.NewService(w.store.Sessions(), w.clock, announce)
	w.prompts = w.serving(prompt.Config{Announce: announce, Waker: hub, Recheck: never})
	return &awaitWorld{
		promptWorld: w, hub: hub, waiter: w.prompts, woken: make(chan struct{}),
		cycle: lifecycle.NewService(w.store.Lifecycle(), w.sessions, w.clock, announce),
	}
}

// awaited is the answer to a reserve that waited.
type awaited struct {
	*prompt.Reservation
	err error
}

// await begins to wait for a delivery and returns when that was tried once, in vain.
func (w *awaitWorld) await(t *testing.T) <-chan awaited {
	t.Helper()
	answers := make(chan awaited, 1)
	check := func(ctx context.Context) error {
		select {
		case w.woken <- struct{}{}:
		default:
		}
		return ctx.Err()
	}
	go func() {
		r, err := w.waiter.Await(t.Context(), w.taskID, w.sessionID, nil, prompt.Wait{Seconds: new(60), Check: check})
		answers <- awaited{r, err}
	}()
	for { // the waiter may not have subscribed yet
		w.hub.WakeAll()
		select {
		case <-w.woken:
			return answers
		case a := <-answers:
			t.Fatalf("the wait ended with %+v, %v", a.Reservation, a.err)
		case <-time.After(time.Millisecond):
		}
	}
}

// answer waits for the end of a wait.
func (w *awaitWorld) answer(t *testing.T, answers <-chan awaited) awaited {
	t.Helper()
	select {
	case a := <-answers:
		return a
	case <-time.After(patience):
		t.Fatal("nobody was woken")
		return awaited{}
	}
}

func (w *awaitWorld) wantReserved(t *testing.T, answers <-chan awaited) {
	t.Helper()
	if a := w.answer(t, answers); a.err != nil || a.Reservation == nil || a.Delivery.State != prompt.StateReserved {
		t.Errorf("the wait ended with %+v, %v", a.Reservation, a.err)
	}
}
