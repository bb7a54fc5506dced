package feed_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain/access"
	"gatehouse/domain/feed"
	"gatehouse/domain/task"
)

// EV-1: a stream begins with everything, or with what came later, and is ready once.
func TestStreamBegins(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.saves()
		w.saves()
		all := []feed.Name{feed.NameTask, feed.NameComments, feed.NamePlan, feed.NameReady}
		for _, c := range []struct {
			since *int64
			want  []feed.Name
		}{
			{nil, all},
			{new(int64(0)), []feed.Name{feed.NamePlan, feed.NameReady}},
			{new(int64(1)), []feed.Name{feed.NamePlan, feed.NameReady}},
			{new(int64(2)), []feed.Name{feed.NameReady}},
			{new(int64(3)), all},
			{new(int64(-5)), all},
		} {
			s := w.open(t, c.since)
			b := next(t, s)
			if diff := cmp.Diff(c.want, namesOf(b)); diff != "" || b.Seq != 2 {
				t.Errorf("since %v: at %d (-want +got):\n%s", c.since, b.Seq, diff)
			}
			for i, e := range b.Events {
				last := e.Name() != feed.NameReady && (i+1 == len(b.Events) || b.Events[i+1].Name() == feed.NameReady || b.Events[i+1].Seq != e.Seq)
				if e.Last != last || len(e.Data) == 0 || i > 0 && e.Seq < b.Events[i-1].Seq {
					t.Errorf("since %v: %d is %v", c.since, i, e)
				}
			}
			quiet(t, s)
			w.changes()
			if b := next(t, s); !slices.Equal(namesOf(b), []feed.Name{feed.NamePlan}) || b.Seq != 3 {
				t.Errorf("then %v", b)
			}
			s.Close(feed.ReasonLeft)
			w.set(func() { w.tasks["a"] = task.Task{ID: "a", ChangeSeq: 2, PlanSeq: 2} })
		}
	})
}

// EV-2: what happens while nobody reads is one snapshot, the last.
func TestStreamCoalesces(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.ready(t)
		defer s.Close(feed.ReasonLeft)
		for range 100_000 {
			w.changes()
		}
		b := next(t, s)
		if len(b.Events) != 1 || b.Events[0].Payload != (feed.Plan{TaskID: "a", PlanID: "p", Version: 100_000}) || !b.Events[0].Last {
			t.Errorf("got %v", b)
		}
		quiet(t, s)
	})
}

// EV-5: streams that stand at the same number share one reading and its bytes.
func TestStreamsShareWhatTheyRead(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.slow = time.Millisecond
		const followers = 1000
		batches := make(chan feed.Batch, followers)
		var following sync.WaitGroup
		var ready sync.WaitGroup
		ready.Add(followers)
		for range followers {
			following.Go(func() {
				s := w.open(t, nil)
				defer s.Close(feed.ReasonLeft)
				next(t, s)
				ready.Done()
				batches <- next(t, s)
			})
		}
		ready.Wait()
		if n := w.reads.Load(); n > 3 {
			t.Errorf("%d streams began with %d readings", followers, n)
		}
		w.reads.Store(0)
		w.changes()
		following.Wait()
		if n := w.reads.Load(); n != 1 {
			t.Errorf("%d readings of one change", n)
		}
		first := <-batches
		for range followers - 1 {
			if b := <-batches; &b.Events[0].Data[0] != &first.Events[0].Data[0] {
				t.Fatal("encoded again")
			}
		}
	})
}

// EV-1: a stream begins with what was there when it was opened, also when an older
// reading for another stream still runs.
func TestStreamBeginsWithWhatIsThere(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.slow = time.Second
		older := w.open(t, nil)
		defer older.Close(feed.ReasonLeft)
		go func() { _, _ = older.Next(t.Context()) }()
		synctest.Wait()
		w.saves() // at another server, whose news is on its way
		s := w.open(t, nil)
		defer s.Close(feed.ReasonLeft)
		if b := next(t, s); b.Seq != 1 {
			t.Errorf("began at %d", b.Seq)
		}
	})
}

// EV-4: lost news is found within two seconds, and at once where it is known to be lost.
func TestStreamFindsLostNews(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.ready(t)
		defer s.Close(feed.ReasonLeft)
		w.saves()
		began := time.Now()
		if b := next(t, s); b.Seq != 1 || time.Since(began) > 2*time.Second {
			t.Errorf("at %d after %s", b.Seq, time.Since(began))
		}
		began = time.Now()
		w.saves()
		w.hub.WakeAll()
		if b := next(t, s); b.Seq != 2 || time.Since(began) > 0 {
			t.Errorf("at %d after %s", b.Seq, time.Since(began))
		}
	})
}

// EV-4: the periodic check is one question for all tasks, and none without streams.
func TestOneCheckForAllTasks(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var streams []*feed.Stream
		for _, id := range []string{"a", "b", "c"} {
			w.set(func() { w.tasks[id] = task.Task{ID: id} })
			s, err := w.Open(access.Caller{}, id, nil)
			if err != nil {
				t.Fatal(err)
			}
			streams = append(streams, s)
		}
		time.Sleep(20 * time.Second)
		if n := w.checks.Load(); n < 10 || n > 14 {
			t.Errorf("%d checks", n)
		}
		for _, s := range streams {
			s.Close(feed.ReasonLeft)
		}
		synctest.Wait()
		n := w.checks.Load()
		time.Sleep(time.Hour)
		if w.checks.Load() != n {
			t.Error("checks without streams")
		}
	})
}

// EV-6: streams of a token that is revoked, and of a task that is gone, end.
func TestStreamEnds(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(w *world)
		within  time.Duration
		want    error
		why     feed.Reason
	}{
		"revoked":         {func(w *world) { w.set(func() { w.revoked["t"] = true }) }, 5 * time.Second, access.ErrUnauthenticated, feed.ReasonRevoked},
		"deleted":         {func(w *world) { w.set(func() { delete(w.tasks, "a") }); w.hub.Wake("a", 1) }, 0, task.ErrNotFound, feed.ReasonDeleted},
		"deleted unheard": {func(w *world) { w.set(func() { delete(w.tasks, "a") }) }, 5 * time.Second, task.ErrNotFound, feed.ReasonDeleted},
		"the server ends": {func(w *world) { w.hub.Close() }, 0, feed.ErrEnded, feed.ReasonStopping},
		"unreadable": {func(w *world) {
			w.set(func() { w.broken = errors.New("away") })
			w.changes()
		}, 0, nil, feed.ReasonFailed},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				s := w.ready(t)
				other, err := w.Open(access.Caller{TokenID: "other"}, "a", nil)
				if err != nil {
					t.Fatal(err)
				}
				next(t, other)
				began := time.Now()
				c.happens(w)
				_, err = s.Next(t.Context())
				if err == nil || c.want != nil && !errors.Is(err, c.want) || time.Since(began) > c.within {
					t.Errorf("%v after %s", err, time.Since(began))
				}
				if s.Err() == nil || feed.ReasonOf(err) != c.why {
					t.Errorf("is %v, reason %s", s.Err(), feed.ReasonOf(err))
				}
				<-s.Ended()
				s.Close(feed.ReasonOf(err))
				s.Close(feed.ReasonLeft)
				if name == "revoked" {
					quiet(t, other)
				}
				other.Close(feed.ReasonLeft)
				if w.opened != 2 || w.closed[c.why] < 1 || w.closed[c.why]+w.closed[feed.ReasonLeft] != 2 {
					t.Errorf("opened %d, closed %v", w.opened, w.closed)
				}
			})
		})
	}
}

// A check that fails ends nothing.
func TestStreamOutlivesAFailedCheck(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.ready(t)
		defer s.Close(feed.ReasonLeft)
		w.set(func() { w.broken = errors.New("away") })
		quiet(t, s)
		w.set(func() { w.broken = nil })
		w.saves()
		next(t, s)
	})
}

// OP-11: a token has so many streams and no more, whatever others have.
func TestStreamsOfAToken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.Limit = 2
		first, second := w.open(t, nil), w.open(t, nil)
		defer second.Close(feed.ReasonLeft)
		if _, err := w.Open(access.Caller{TokenID: "t"}, "a", nil); !errors.Is(err, feed.ErrTooMany) {
			t.Errorf("a third: %v", err)
		}
		other, err := w.Open(access.Caller{TokenID: "other"}, "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		other.Close(feed.ReasonLeft)
		first.Close(feed.ReasonLeft)
		w.open(t, nil).Close(feed.ReasonLeft)
	})
}

// A database that was replaced by an older one owes everything, and wakes nobody for
// ever.
func TestStreamOfARestoredDatabase(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for range 5 {
			w.saves()
		}
		s := w.ready(t)
		defer s.Close(feed.ReasonLeft)
		w.set(func() { w.tasks["a"] = task.Task{ID: "a", ChangeSeq: 3, PlanSeq: 3} })
		w.hub.Wake("a", 6)
		if b := next(t, s); b.Seq != 3 || len(b.Events) != 3 {
			t.Errorf("got %v", b)
		}
		w.reads.Store(0)
		quiet(t, s)
		if n := w.reads.Load(); n != 0 {
			t.Errorf("%d readings of nothing", n)
		}
		w.changes()
		if b := next(t, s); b.Seq != 4 {
			t.Errorf("got %v", b)
		}
	})
}

// Streams that fall behind and come back find what they are owed.
func TestStreamsAtDifferentNumbers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var streams []*feed.Stream
		for range 20 {
			streams = append(streams, w.ready(t))
			w.changes()
		}
		for i, s := range streams {
			if b := next(t, s); b.Seq != 20 || len(b.Events) != 1 {
				t.Errorf("%d got %v", i, b)
			}
			s.Close(feed.ReasonLeft)
		}
	})
}

// EV-8: who comes while a server ends, or to a task that is gone, does not stay, though
// others have not left yet.
func TestStreamComesTooLate(t *testing.T) {
	for name, happens := range map[string]func(w *world){
		"the server ends": func(w *world) { w.hub.Close() },
		"deleted": func(w *world) {
			w.set(func() { delete(w.tasks, "a") })
			w.hub.Wake("a", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				early := w.ready(t)
				defer early.Close(feed.ReasonStopping)
				happens(w)
				_, _ = early.Next(t.Context())
				late := w.open(t, nil)
				defer late.Close(feed.ReasonStopping)
				began := time.Now()
				for late.Err() == nil {
					_, _ = late.Next(t.Context())
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("stayed for %s", took)
				}
			})
		})
	}
}

// A defect in reading ends the streams of the task, without the words of people.
func TestStreamOfADefect(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.ready(t)
		defer s.Close(feed.ReasonFailed)
		w.panics = true
		w.changes()
		if _, err := s.Next(t.Context()); err == nil || strings.Contains(err.Error(), "people") || feed.ReasonOf(err) != feed.ReasonFailed {
			t.Errorf("ended with %v", err)
		}
		w.panics = false
		w.ready(t).Close(feed.ReasonLeft)
	})
}
