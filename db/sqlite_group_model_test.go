package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// The counters of a model, by name, and how a move of one to another can end.
var (
	counters = []string{"a", "b", "c"}
	errEmpty = errors.New("the counter is empty")
	errLate  = errors.New("a refusal after the writes")
)

// move takes one from a counter and gives it to another, unless there is none. It may
// fail when it has written.
type move struct {
	from, to string
	fails    error
}

// apply is the move on plain values.
func (m move) apply(counts map[string]int) error {
	switch {
	case counts[m.from] == 0:
		return errEmpty
	case m.fails != nil:
		return m.fails
	}
	counts[m.from]--
	counts[m.to]++
	return nil
}

// run is the same in a transaction.
func (m move) run(ctx context.Context, t *db.Tx) error {
	n := 0
	found := func(scan func(...any) error) error { return scan(&n) }
	if err := t.Batch(ctx, db.Query(found, "SELECT n FROM counters WHERE id = $1", m.from)); err != nil {
		return err
	}
	if n == 0 {
		return errEmpty
	}
	for id, by := range map[string]int{m.from: -1, m.to: 1} {
		if m.from == m.to {
			break
		}
		if err := t.Batch(ctx, db.Affecting(1, db.Exec("UPDATE counters SET n = n + $1 WHERE id = $2", by, id))); err != nil {
			return err
		}
	}
	return m.fails
}

// movedStore has the counters, each at two.
func movedStore(tb testing.TB) *db.Store {
	tb.Helper()
	s := counterStore(tb, func(tb testing.TB) *db.Store { return dbtest.Open(tb, db.Options{URL: dbtest.SQLiteURL(tb)}) })
	s.ShareFor(time.Hour)
	err := s.InTx(tb.Context(), "", both(plain("DELETE FROM counters"), plain("INSERT INTO counters VALUES ('a', 2), ('b', 2), ('c', 2)")))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func counts(tb testing.TB, s *db.Store) map[string]int {
	tb.Helper()
	found := map[string]int{}
	err := s.InRead(tb.Context(), func(ctx context.Context, t *db.Tx) error {
		return t.Batch(ctx, db.Query(func(scan func(...any) error) error {
			id, n := "", 0
			err := scan(&id, &n)
			found[id] = n
			return err
		}, "SELECT id, n FROM counters"))
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// QU-23: batches of random moves, some refused, some failing after their writes, some
// with a commit that fails, end like the same moves one after another. When a commit
// fails, all run again, in an order of their own: then nothing is made or lost.
func TestBatchModel(t *testing.T) {
	fault := errors.New("fault")
	rapid.Check(t, func(rt *rapid.T) {
		s := movedStore(t)
		model := counts(t, s)
		for range rapid.IntRange(1, 3).Draw(rt, "batches") {
			moves := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) move {
				return move{
					rapid.SampledFrom(counters).Draw(rt, "from"), rapid.SampledFrom(counters).Draw(rt, "to"),
					rapid.SampledFrom([]error{nil, nil, errLate}).Draw(rt, "fails"),
				}
			}), 1, 8).Draw(rt, "moves")
			broken := rapid.IntRange(0, 4).Draw(rt, "commit") == 0
			dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
				if broken && when == dbtest.Before && sql == db.CommitBatchSQL {
					return fault
				}
				return nil
			})
			var work []func(context.Context, *db.Tx) error
			for _, m := range moves {
				work = append(work, m.run)
			}
			told := together(t, s, work...)
			if broken {
				model = judgeAnyOrder(rt, moves, told, model, counts(t, s))
				continue
			}
			for i, m := range moves {
				if want := m.apply(model); !errors.Is(told[i], want) {
					rt.Fatalf("move %d %v was told %v, want %v", i, m, told[i], want)
				}
			}
			if diff := cmp.Diff(model, counts(t, s)); diff != "" {
				rt.Fatal(diff)
			}
		}
	})
}

// judgeAnyOrder holds what is stored to what was told: each success moved once, and
// nothing else moved.
func judgeAnyOrder(rt *rapid.T, moves []move, told []error, before, after map[string]int) map[string]int {
	for i, m := range moves {
		switch {
		case told[i] == nil && m.fails == nil:
			before[m.from]--
			before[m.to]++
		case !errors.Is(told[i], errEmpty) && (m.fails == nil || !errors.Is(told[i], m.fails)):
			rt.Fatalf("move %d %v was told %v", i, m, told[i])
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		rt.Fatal(diff)
	}
	return after
}

// QU-2: 64 clients, some of which refuse, fail or leave: what is stored is what was told,
// and commits are shared.
func TestBatchesOfACrowd(t *testing.T) {
	const clients, each = 64, 20
	s := batchStore(t)
	n := commits(t, s)
	var kept, others atomic.Int64
	var crowd sync.WaitGroup
	for client := range clients {
		crowd.Go(func() {
			for i := range each {
				id := fmt.Sprintf("%02d-%02d", client, i)
				ctx, leave := context.WithCancel(t.Context())
				member := []work{
					put(id), put(id), both(put(id), plain("nonsense")),
					both(put(id), func(context.Context, *db.Tx) error { return errLate }),
					both(put(id), func(context.Context, *db.Tx) error { leave(); return nil }),
				}[rand.IntN(5)]
				if s.InTx(ctx, strconv.Itoa(client%16), member) == nil {
					kept.Add(1)
				} else {
					others.Add(1)
				}
				leave()
			}
		})
	}
	crowd.Wait()
	if got := len(stored(t, s)); int64(got) != kept.Load() {
		t.Errorf("%d are stored, %d were told so", got, kept.Load())
	}
	if n.Load() == 0 || n.Load() >= kept.Load() {
		t.Errorf("%d commits were shared by %d", n.Load(), kept.Load())
	}
	t.Logf("%d kept, %d others, %d shared commits", kept.Load(), others.Load(), n.Load())
}
