package db_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	news "gatehouse/domain/event"
)

// hears waits until a subscription has news of seq or later. Zero is any news.
func hears(tb testing.TB, s *news.Subscription, seq int64) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute) // hangs otherwise
	defer cancel()
	for {
		select {
		case got, open := <-s.C():
			if !open {
				tb.Fatal("the hub has ended")
			}
			if got >= seq {
				return
			}
		case <-ctx.Done():
			tb.Fatalf("nobody told of change %d", seq)
		}
	}
}

// process is one of several on a database.
type process struct {
	store *db.Store
	hub   *news.Hub
	*db.Exchange
}

func newProcess(tb testing.TB, url string) *process {
	tb.Helper()
	store, hub := dbtest.Open(tb, db.Options{URL: url}), news.NewHub()
	p := &process{store, hub, store.Exchange(hub)}
	tb.Cleanup(p.Close)
	return p
}

// newListener is a process on PostgreSQL that hears the others already.
func newListener(tb testing.TB, url string) *process {
	tb.Helper()
	store, hub := dbtest.Open(tb, db.Options{URL: url}), news.NewHub()
	connected := hub.Subscribe("")
	p := &process{store, hub, store.Exchange(hub)}
	tb.Cleanup(p.Close)
	hears(tb, connected, 0) // everybody looks once a connection is made
	connected.Close()
	return p
}

func (p *process) publish(t *testing.T, taskID string, seq int64) {
	t.Helper()
	if err := p.Publish(t.Context(), news.Notice{TaskID: taskID, Seq: seq}); err != nil {
		t.Fatal(err)
	}
}

func TestExchangeTellsItsOwnProcess(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		p := newProcess(t, newURL(t))
		s, other := p.hub.Subscribe("a"), p.hub.Subscribe("b")
		p.publish(t, "a", 7)
		hears(t, s, 7)
		p.Close()
		select {
		case seq := <-other.C():
			if seq != 0 { // the listener has connected
				t.Errorf("another task was told of %d", seq)
			}
		default:
		}
	})
}

// EV-4: between processes, all that was told goes together, and comes as what was last.
func TestExchangeTellsOtherProcesses(t *testing.T) {
	url := dbtest.PostgresURL(t)
	a, b := newListener(t, url), newListener(t, url)
	tasks := make([]*news.Subscription, 300) // more than one notification holds
	ids := make([]string, len(tasks))
	for i := range tasks {
		ids[i] = domain.NewID()
		tasks[i] = a.hub.Subscribe(ids[i])
	}
	for seq := range int64(3) {
		for _, id := range ids {
			b.publish(t, id, seq+1)
		}
	}
	for _, s := range tasks {
		hears(t, s, 3)
	}
}

// EV-4: what was told last before a process ends is told.
func TestExchangeTellsBeforeItEnds(t *testing.T) {
	url := dbtest.PostgresURL(t)
	a, b := newListener(t, url), newProcess(t, url)
	s := a.hub.Subscribe("a")
	b.publish(t, "a", 1)
	b.Close()
	hears(t, s, 1)
}

// EV-4: a lost connection is made again, and everybody looks once.
func TestExchangeConnectsAgain(t *testing.T) {
	url := dbtest.PostgresURL(t)
	a, b := newListener(t, url), newProcess(t, url)
	for seq := range int64(3) {
		s := a.hub.Subscribe("a")
		killListeners(t, url)
		hears(t, s, 0)
		b.publish(t, "a", seq+1)
		hears(t, s, seq+1)
		s.Close()
	}
}

// killListeners ends the connections on which processes hear each other.
func killListeners(tb testing.TB, url string) {
	tb.Helper()
	var killed int
	store := dbtest.Open(tb, db.Options{URL: url, MaxConnections: 2})
	err := store.Read(tb.Context(), func(ctx context.Context, q db.Querier) error {
		return q.NewRaw(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'gatehouse listener'`).Scan(ctx, &killed)
	})
	if err != nil || killed == 0 {
		tb.Fatalf("killed %d, %v", killed, err)
	}
}

func TestExchangeLeavesNothingBehind(t *testing.T) {
	url := dbtest.PostgresURL(t)
	ignore := goleak.IgnoreCurrent()
	store, err := db.Open(t.Context(), db.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		e := store.Exchange(news.NewHub())
		if err := e.Publish(t.Context(), news.Notice{TaskID: "a", Seq: 1}); err != nil {
			t.Fatal(err)
		}
		e.Close()
		e.Close()
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, ignore)
}

// EV-4: a notification is ids and numbers, and always one that the server takes.
func TestPayloads(t *testing.T) {
	tasks, sender := map[string]int64{}, domain.NewID()
	for range 1000 {
		tasks[domain.NewID()] = 1 << 62
	}
	payloads := db.Payloads(sender, tasks)
	hub := news.NewHub()
	subscriptions := map[*news.Subscription]int64{}
	for id, seq := range tasks {
		subscriptions[hub.Subscribe(id)] = seq
	}
	for _, p := range payloads {
		if len(p) > db.MaxPayload {
			t.Errorf("a notification has %d bytes", len(p))
		}
		db.HearAs(sender, hub, p)
	}
	for s := range subscriptions {
		if len(s.C()) != 0 {
			t.Fatal("a process heard itself")
		}
	}
	for _, p := range payloads {
		db.HearAs("another", hub, p)
	}
	for s, seq := range subscriptions {
		hears(t, s, seq)
	}
	if n := len(payloads); n < 2 || n > 12 {
		t.Errorf("%d notifications", n)
	}
}

// What cannot be read may mean anything, and what is too much is not named.
func TestPayloadsOfAll(t *testing.T) {
	all := db.TakeAfter("me", db.MaxUntold+1)
	if len(all) != 1 || len(db.TakeAfter("me", db.MaxUntold)) == 1 || len(db.TakeAfter("me", 0)) != 0 {
		t.Errorf("told %d", len(all))
	}
	for _, payload := range slices.Concat(all, []string{"", "another\nx", "another\na 1 2", "another\na " + strings.Repeat("9", 30)}) {
		hub := news.NewHub()
		s := hub.Subscribe("b")
		db.HearAs("other", hub, payload)
		hears(t, s, 0)
	}
}
