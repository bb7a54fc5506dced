package storetest

import (
	"context"
	"errors"
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

// Await is what a store must do for reserves that wait.
func Await(t *testing.T, open Open) {
	tests := map[string]func(*testing.T, *awaitWorld){
		"DL-13 a waiting reserve does not hold the task": waitsWithoutLock,
		"EV-4 a lease that ends is noticed":              noticesLease,
		"a caller who has left leaves nothing behind":    handsBack,
		"the server ends while somebody waits":           endsWithServer,
		"a session of another task":                      waitsNowhere,
	}
	for name, c := range wakes {
		tests["DL-13 "+name] = c.run
	}
	for name, c := range waitFailures {
		tests[name] = c.run
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test(t, newAwaitWorld(t, newPromptWorld(t, newWorld(t, open)), event.NewHub(), nil))
		})
	}
}

// AwaitOfTwo shows that the reserve of one process is woken by another: open returns
// two processes on one database, with what carries news from the second to the first.
func AwaitOfTwo(t *testing.T, open func(tb testing.TB) Pair) {
	t.Helper()
	world := func(t *testing.T, recheck time.Duration) (*awaitWorld, Pair) {
		t.Helper()
		p := open(t)
		w := newAwaitWorld(t, newPromptWorld(t, newWorld(t, func(testing.TB) Store { return p.Stores[1] })), p.Hub, p.Publisher)
		w.waiter = prompt.NewService(prompt.Config{
			Store: p.Stores[0].Prompts(), Now: w.clock, Announce: event.NewAnnouncer(nil, nil), Waker: p.Hub, Recheck: recheck,
		})
		return w, p
	}
	for name, c := range wakes {
		t.Run("DL-13 "+name, func(t *testing.T) {
			w, _ := world(t, never)
			c.run(t, w)
		})
	}
	t.Run("EV-4 news that is lost", func(t *testing.T) {
		w, p := world(t, 0)
		answers := w.await(t)
		p.Silence()
		w.admit(t, w.request("c1"))
		w.wantReserved(t, answers)
	})
	t.Run("EV-4 news that was lost with the connection", func(t *testing.T) {
		w, p := world(t, never)
		answers := w.await(t)
		p.Disconnect(t)
		w.admit(t, w.request("c1"))
		w.wantReserved(t, answers)
	})
}

// Pair is two processes on one database, of which the first has a hub.
type Pair struct {
	Stores     [2]Store
	Hub        *event.Hub      // of the first, connected
	Publisher  event.Publisher // of the second
	Disconnect func(tb testing.TB)
	Silence    func() // from then on the first hears nothing
}

// awaitWorld is a promptWorld with somebody who waits.
type awaitWorld struct {
	*promptWorld
	hub         *event.Hub
	lifecycle   *lifecycle.Service
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
	w.prompts = prompt.NewService(prompt.Config{Store: w.store.Prompts(), Now: w.clock, Announce: announce, Waker: hub, Recheck: never})
	return &awaitWorld{
		promptWorld: w, hub: hub, waiter: w.prompts, woken: make(chan struct{}),
		lifecycle: lifecycle.NewService(w.store.Lifecycle(), w.sessions, w.clock, announce),
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

// wake is something that ends a wait.
type wake struct {
	prepare func(t *testing.T, w *awaitWorld)
	happens func(t *testing.T, w *awaitWorld)
}

func (c wake) run(t *testing.T, w *awaitWorld) {
	c.prepare(t, w)
	answers := w.await(t)
	c.happens(t, w)
	w.wantReserved(t, answers)
}

// wakes are the ways in which something to hand out comes about.
var wakes = map[string]wake{
	"a prompt arrives": {func(*testing.T, *awaitWorld) {}, func(t *testing.T, w *awaitWorld) {
		w.admit(t, w.request("c1"))
	}},
	"a prompt is queued": {func(*testing.T, *awaitWorld) {}, func(t *testing.T, w *awaitWorld) {
		w.enqueue(t, "q1")
	}},
	"a text is appended": {func(*testing.T, *awaitWorld) {}, func(t *testing.T, w *awaitWorld) {
		_, _, err := w.prompts.Append(t.Context(), prompt.Addition{TaskID: w.taskID, SessionID: w.sessionID, Content: "go on"})
		wantErr(t, err, nil)
	}},
	"a turn ends": {runningTurn, func(t *testing.T, w *awaitWorld) {
		_, err := w.sessions.EndTurn(t.Context(), w.taskID, w.turn(t), session.TurnCompleted)
		wantErr(t, err, nil)
	}},
	"a turn is deleted": {runningTurn, func(t *testing.T, w *awaitWorld) {
		wantErr(t, w.sessions.DeleteTurn(t.Context(), w.taskID, w.turn(t)), nil)
	}},
	"an attempt failed": {runningTurn, func(t *testing.T, w *awaitWorld) {
		w.acknowledge(t, w.reservation, prompt.OutcomeFailed)
	}},
	"the outcome of an attempt is unknown": {runningTurn, func(t *testing.T, w *awaitWorld) {
		w.acknowledge(t, w.reservation, prompt.OutcomeUnknown)
	}},
	"recovery gives an attempt up": {runningTurn, func(t *testing.T, w *awaitWorld) {
		w.attemptedLongAgo(t, w.reservation, prompt.DefaultAcknowledgeTimeout)
		w.recover(t)
	}},
	"recovery takes a lease back": {func(t *testing.T, w *awaitWorld) {
		w.enqueue(t, "q1")
		w.reservation = w.reserve(t)
	}, func(t *testing.T, w *awaitWorld) {
		w.expire(t, w.reservation)
		w.recover(t)
	}},
	"a reservation is released": {func(t *testing.T, w *awaitWorld) {
		w.enqueue(t, "q1")
		w.reservation = w.reserve(t)
	}, func(t *testing.T, w *awaitWorld) {
		_, err := w.prompts.Release(t.Context(), w.taskID, w.reservation.Delivery.ID, w.reservation.Token, nil)
		wantErr(t, err, nil)
	}},
	"auto_run is turned on": {func(t *testing.T, w *awaitWorld) {
		w.enqueue(t, "q1")
		w.patch(t, session.Patch{AutoRun: new(false)})
	}, func(t *testing.T, w *awaitWorld) { w.patch(t, session.Patch{AutoRun: new(true)}) }},
	"the session is idle again": {func(t *testing.T, w *awaitWorld) {
		w.enqueue(t, "q1")
		w.patch(t, session.Patch{State: new(session.StateRunning)})
	}, func(t *testing.T, w *awaitWorld) { w.patch(t, session.Patch{State: new(session.StateIdle)}) }},
}

// runningTurn is a delivery that was attempted, with another behind it.
func runningTurn(t *testing.T, w *awaitWorld) {
	t.Helper()
	w.enqueue(t, "q1")
	w.enqueue(t, "q2")
	w.reservation = w.pass(t)
}

func (w *awaitWorld) patch(t *testing.T, p session.Patch) {
	t.Helper()
	if _, err := w.sessions.Update(t.Context(), w.taskID, w.sessionID, p); err != nil {
		t.Fatal(err)
	}
}

// turn is that of the delivery that was attempted.
func (w *awaitWorld) turn(t *testing.T) string {
	t.Helper()
	d, err := w.prompts.Delivery(t.Context(), w.reservation.Delivery.ID)
	if err != nil {
		t.Fatal(err)
	}
	return *d.TurnID
}

// failure is something that ends a wait with an error.
type failure struct {
	happens func(t *testing.T, w *awaitWorld) error
	want    error
}

func (c failure) run(t *testing.T, w *awaitWorld) {
	answers := w.await(t)
	wantErr(t, c.happens(t, w), nil)
	a := w.answer(t, answers)
	if a.Reservation != nil || !errors.Is(a.err, c.want) {
		t.Errorf("the wait ended with %+v, %v, want %v", a.Reservation, a.err, c.want)
	}
}

var waitFailures = map[string]failure{
	"DL-9 the session is deleted": {func(t *testing.T, w *awaitWorld) error {
		return w.lifecycle.DeleteSession(t.Context(), w.taskID, w.sessionID)
	}, session.ErrNotFound},
	"the task is deleted": {func(t *testing.T, w *awaitWorld) error {
		return w.lifecycle.DeleteTask(t.Context(), w.taskID)
	}, session.ErrNotFound},
	"DL-10 the session ends": {func(t *testing.T, w *awaitWorld) error {
		_, err := w.lifecycle.UpdateSession(t.Context(), w.taskID, w.sessionID, session.Patch{State: new(session.StateCompleted)})
		return err
	}, session.ErrUnavailable},
	"the task is archived": {func(t *testing.T, w *awaitWorld) error {
		_, err := w.tasks.Update(t.Context(), w.taskID, task.Patch{Archived: new(true)})
		return err
	}, task.ErrArchived},
}

func waitsWithoutLock(t *testing.T, w *awaitWorld) {
	const waiters = 20 // more than there are connections to an SQLite database
	var answers []<-chan awaited
	for range waiters {
		answers = append(answers, w.await(t))
	}
	for i := range waiters {
		w.sessionID = w.session(w.taskID, session.KindMain, nil).ID // nobody waits for these
		w.enqueue(t, clientID(i))
		w.reserve(t)
	}
	w.hub.Close()
	for _, of := range answers {
		if a := w.answer(t, of); a.Reservation != nil || a.err != nil {
			t.Errorf("the wait ended with %+v, %v", a.Reservation, a.err)
		}
	}
}

func noticesLease(t *testing.T, w *awaitWorld) {
	w.waiter = prompt.NewService(prompt.Config{
		Store: w.store.Prompts(), Now: w.clock, Announce: event.NewAnnouncer(nil, nil), Waker: w.hub, Recheck: 10 * time.Millisecond,
	})
	w.enqueue(t, "q1")
	w.reservation = w.reserve(t)
	answers := w.await(t)
	w.expire(t, w.reservation)
	w.wantReserved(t, answers)
}

// handsBack has a caller who leaves while the reservation is made.
func handsBack(t *testing.T, w *awaitWorld) {
	w.enqueue(t, "q1")
	ctx, leave := context.WithCancel(t.Context())
	w.waiter = prompt.NewService(prompt.Config{
		Store: w.store.Prompts(), Now: w.clock, Waker: w.hub,
		Announce: event.NewAnnouncer(publisherFunc(leave), nil),
	})
	r, err := w.waiter.Await(ctx, w.taskID, w.sessionID, nil, prompt.Wait{Seconds: new(1)})
	if r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ended with %+v, %v", r, err)
	}
	if d := w.state(t).Deliveries[0]; d.State != prompt.StatePending || d.TokenHash != nil {
		t.Errorf("left %+v", d)
	}
}

// publisherFunc is told that there is news.
type publisherFunc func()

// Publish implements event.Publisher.
func (f publisherFunc) Publish(context.Context, event.Notice) error { f(); return nil }

func endsWithServer(t *testing.T, w *awaitWorld) {
	answers := w.await(t)
	w.hub.Close()
	if a := w.answer(t, answers); a.Reservation != nil || a.err != nil {
		t.Errorf("the wait ended with %+v, %v", a.Reservation, a.err)
	}
	w.enqueue(t, "q1") // who comes now waits for nothing, and gets what is there
	for _, want := range []bool{true, false} {
		r, err := w.waiter.Await(t.Context(), w.taskID, w.sessionID, nil, prompt.Wait{Seconds: new(60)})
		if err != nil || (r != nil) != want {
			t.Errorf("reserved %+v, %v", r, err)
		}
	}
}

func waitsNowhere(t *testing.T, w *awaitWorld) {
	other := newPromptWorld(t, w.world)
	_, err := w.waiter.Await(t.Context(), w.taskID, other.sessionID, nil, prompt.Wait{Seconds: new(60)})
	wantErr(t, err, session.ErrNotFound)
}
