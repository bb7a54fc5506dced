package prompt

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
)

// waiter is a reserve that waits in a bubble, for what the test lets it find.
type waiter struct {
	hub *event.Hub

	mu      sync.Mutex
	watch   Watch
	head    *Reservation // what a reserve gives
	tries   int
	looks   int
	failing error // of every look
	revoked error // of every check
}

func newWaiter() *waiter { return &waiter{hub: event.NewHub(), watch: Watch{Stamp: 1}} }

// got is how a wait ended, and after how long.
type got struct {
	*Reservation
	err   error
	after time.Duration
}

// begin starts to wait for 60 s, and returns when everybody sleeps.
func (w *waiter) begin(ctx context.Context) <-chan got {
	ended := make(chan got, 1)
	began := time.Now()
	news := w.hub.Subscribe("task")
	go func() {
		defer news.Close()
		r, err := waiting{
			news:    news.C(),
			recheck: DefaultRecheck,
			look:    w.look,
			reserve: w.reserve,
			check:   w.check,
		}.run(ctx, time.Minute)
		ended <- got{r, err, time.Since(began)}
	}()
	synctest.Wait()
	return ended
}

func (w *waiter) look(context.Context) (Watch, error) {
	defer w.locked()()
	w.looks++
	return w.watch, w.failing
}

func (w *waiter) reserve(context.Context) (*Reservation, error) {
	defer w.locked()()
	w.tries++
	return w.head, nil
}

func (w *waiter) check(context.Context) error {
	defer w.locked()()
	return w.revoked
}

// locked locks w until its result is called.
func (w *waiter) locked() (unlock func()) {
	w.mu.Lock()
	return w.mu.Unlock
}

func TestWaiting(t *testing.T) { // DL-13
	revoked, broken := errors.New("revoked"), errors.New("broken")
	for name, c := range map[string]struct {
		during   func(w *waiter, cancel func()) // after a second, nobody is awake
		reserved bool
		err      error
		after    time.Duration // at most
		tries    int
	}{
		"nothing comes":           {func(*waiter, func()) {}, false, nil, time.Minute, 1},
		"news":                    {(*waiter).news, true, nil, time.Second, 2},
		"news that is lost":       {(*waiter).lostNews, true, nil, time.Second + DefaultRecheck, 2},
		"a lease that ends":       {(*waiter).lease, true, nil, time.Second + DefaultRecheck, 2},
		"news of something else":  {(*waiter).otherNews, false, nil, time.Minute, 1},
		"news for somebody else":  {(*waiter).emptyNews, false, nil, time.Minute, 2},
		"the server ends":         {func(w *waiter, _ func()) { w.hub.Close() }, false, nil, time.Second, 1},
		"the client leaves":       {func(_ *waiter, cancel func()) { cancel() }, false, context.Canceled, time.Second, 1},
		"the token is revoked":    {func(w *waiter, _ func()) { w.revoke(revoked); w.news(nil) }, false, revoked, time.Second, 1},
		"a revocation by another": {func(w *waiter, _ func()) { w.revoke(revoked) }, false, revoked, time.Second + DefaultRecheck, 1},
		"the session is gone":     {func(w *waiter, _ func()) { w.fail(broken) }, false, broken, time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w := newWaiter()
				ended := w.begin(ctx)
				time.Sleep(time.Second)
				synctest.Wait()
				c.during(w, cancel)
				g := <-ended
				if (g.Reservation != nil) != c.reserved || !errors.Is(g.err, c.err) || g.after > c.after || w.tries != c.tries {
					t.Errorf("ended with %v, %v after %s and %d tries", g.Reservation, g.err, g.after, w.tries)
				}
				if c.after == time.Minute && g.after != c.after {
					t.Errorf("gave up after %s", g.after)
				}
			})
		})
	}
}

// news lets something be there, and tells of it.
func (w *waiter) news(func()) {
	w.lostNews(nil)
	w.hub.Wake("task", 2)
}

func (w *waiter) lostNews(func()) {
	defer w.locked()()
	w.head, w.watch.Stamp = &Reservation{}, 2
}

// lease lets the lease of another end, which nobody tells.
func (w *waiter) lease(func()) {
	defer w.locked()()
	w.head, w.watch.Due = &Reservation{}, true
}

// revoke takes the token of the caller, which nobody tells.
func (w *waiter) revoke(err error) {
	defer w.locked()()
	w.revoked = err
}

// fail lets every look fail, and tells that there is something.
func (w *waiter) fail(err error) {
	defer w.hub.WakeAll()
	defer w.locked()()
	w.failing = err
}

// otherNews is of what has nothing to do with the queue.
func (w *waiter) otherNews(func()) { w.hub.Wake("task", 2) }

// emptyNews is of what another has taken.
func (w *waiter) emptyNews(func()) {
	defer w.hub.Wake("task", 2)
	defer w.locked()()
	w.watch.Stamp = 2
}

// What is there already is given at once.
func TestWaitingForWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiter()
		w.head = &Reservation{}
		if g := <-w.begin(t.Context()); g.Reservation == nil || g.after != 0 || w.tries != 1 {
			t.Errorf("ended with %+v after %d tries", g, w.tries)
		}
	})
}

// A burst of news costs a look or two, and none that tries to reserve in vain.
func TestWaitingThroughABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := newWaiter()
		ended := w.begin(ctx)
		before := w.looks
		for seq := range int64(1000) {
			w.hub.Wake("task", seq)
			w.hub.Wake("another", seq)
		}
		synctest.Wait()
		if w.looks == before || w.tries != 1 {
			t.Errorf("%d looks and %d tries", w.looks, w.tries)
		}
		cancel()
		<-ended
	})
}

func TestWaitForms(t *testing.T) {
	for _, seconds := range []int{-1, domain.MaxWaitSeconds + 1} {
		if _, err := (Wait{Seconds: &seconds}).patience(); !errors.Is(err, domain.ErrValidation) {
			t.Errorf("%d: %v", seconds, err)
		}
	}
	if got, err := (Wait{}).patience(); got != 0 || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := (Wait{Seconds: new(domain.MaxWaitSeconds)}).patience(); got != time.Minute || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}
