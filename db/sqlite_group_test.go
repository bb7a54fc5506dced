package db_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// batchStore has a table that members of a batch write to, each a row of its own.
func batchStore(tb testing.TB) *db.Store {
	tb.Helper()
	s := dbtest.Open(tb, db.Options{URL: dbtest.SQLiteURL(tb)})
	s.ShareFor(time.Hour)
	err := s.InTx(tb.Context(), "", func(ctx context.Context, t *db.Tx) error {
		return both(plain("CREATE TABLE parents (id text PRIMARY KEY)"),
			plain("CREATE TABLE rows (id text PRIMARY KEY, parent text REFERENCES parents (id), filler blob)"))(ctx, t)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

type work = func(context.Context, *db.Tx) error

// put inserts the row of a member.
func put(id string) work {
	return func(ctx context.Context, t *db.Tx) error {
		return t.Batch(ctx, db.Exec("INSERT INTO rows (id) VALUES ($1)", id))
	}
}

// both does one thing, then the other.
func both(first, second work) work {
	return func(ctx context.Context, t *db.Tx) error {
		if err := first(ctx, t); err != nil {
			return err
		}
		return second(ctx, t)
	}
}

// plain runs a text that is not to be prepared.
func plain(text string) work {
	return func(ctx context.Context, t *db.Tx) error {
		_, err := t.NewRaw(text).Exec(ctx)
		return err
	}
}

// stored are the rows as another connection sees them.
func stored(tb testing.TB, s *db.Store) []string {
	tb.Helper()
	ids := []string{}
	err := s.Read(tb.Context(), func(ctx context.Context, q db.Querier) error {
		return q.NewSelect().Table("rows").Column("id").Order("id").Scan(ctx, &ids)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return ids
}

// convoy holds the writer of SQLite while others come to wait for it.
type convoy struct {
	store   *db.Store
	free    chan struct{}
	members sync.WaitGroup
	waiting int
}

func newConvoy(tb testing.TB, s *db.Store) *convoy {
	tb.Helper()
	c := &convoy{store: s, free: make(chan struct{})}
	held := make(chan struct{})
	c.members.Go(func() {
		err := s.InTx(tb.Context(), "", func(context.Context, *db.Tx) error {
			close(held)
			<-c.free
			return errHeld // has nothing to commit
		})
		if !errors.Is(err, errHeld) {
			tb.Error(err)
		}
	})
	select {
	case <-held:
	case <-tb.Context().Done():
	}
	return c
}

// defect is what members panic with.
const defect = "defect"

var (
	errHeld  = errors.New("held")
	errPanic = errors.New("panic")
)

// join runs a member, and returns once it waits. What it was told, and be it by a panic,
// can be read after [convoy.run].
func (c *convoy) join(member func() error) (told *error) {
	told = new(error)
	c.members.Go(func() {
		defer func() {
			switch r := recover(); r {
			case nil:
			case defect:
				*told = errPanic
			default:
				panic(r)
			}
		}()
		*told = member()
	})
	c.waiting++
	c.await()
	return told
}

// await returns when as many wait as have joined and not left.
func (c *convoy) await() {
	for c.store.WritersWaiting() != c.waiting {
		runtime.Gosched()
	}
}

// run gives the writer to those who wait, and returns when all were answered.
func (c *convoy) run() {
	close(c.free)
	c.members.Wait()
}

// together runs members as one batch, in their order, and returns what each was told.
func together(tb testing.TB, s *db.Store, members ...work) []error {
	tb.Helper()
	c := newConvoy(tb, s)
	told := make([]*error, len(members))
	for i, member := range members {
		told[i] = c.join(func() error { return s.InTx(tb.Context(), "", member) })
	}
	c.run()
	answers := make([]error, len(told))
	for i := range told {
		answers[i] = *told[i]
	}
	return answers
}

// commits counts the commits that were shared.
func commits(tb testing.TB, s *db.Store) *atomic.Int64 {
	n := new(atomic.Int64)
	dbtest.Probe(tb, s, func(when dbtest.When, sql string) error {
		if when == dbtest.After && sql == db.CommitBatchSQL {
			n.Add(1)
		}
		return nil
	})
	return n
}

// QU-2: who waits shares one commit, up to a bound, and is answered when others can see
// what it wrote.
func TestWhoWaitsSharesACommit(t *testing.T) {
	for name, c := range map[string]struct {
		members, commits int
		lasts            time.Duration
	}{
		"two":              {2, 1, time.Hour},
		"as many as may":   {db.MaxShared, 1, time.Hour},
		"one too many":     {db.MaxShared + 1, 1, time.Hour}, // who is left is alone
		"two batches full": {2 * db.MaxShared, 2, time.Hour},
		"too late":         {4, 3, -time.Hour}, // for all but the first of each batch
	} {
		t.Run(name, func(t *testing.T) {
			s := batchStore(t)
			s.ShareFor(c.lasts)
			n := commits(t, s)
			id := func(i int) string { return fmt.Sprintf("%03d", i) }
			all := newConvoy(t, s)
			for i := range c.members {
				all.join(func() error {
					if err := s.InTx(t.Context(), "task"+id(i), put(id(i))); err != nil {
						t.Error(err)
					}
					if !slices.Contains(stored(t, s), id(i)) {
						t.Errorf("member %d was answered before its commit", i)
					}
					return nil
				})
			}
			all.run()
			if got := int(n.Load()); got != c.commits {
				t.Errorf("%d commits for %d members, want %d", got, c.members, c.commits)
			}
		})
	}
}

// One client has plain transactions: no savepoint, no commit of a batch.
func TestWhoIsAloneHasNoSavepoint(t *testing.T) {
	s := batchStore(t)
	var got []string
	dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
		if when == dbtest.Before {
			got = append(got, sql)
		}
		return nil
	})
	if err := s.InTx(t.Context(), "task", put("a")); err != nil {
		t.Fatal(err)
	}
	want := []string{"INSERT INTO rows (id) VALUES ($1)", db.CommitSQL}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// QU-2: whatever ends a member ends it alone, and nobody hears of anything, refusals
// included, before the commit.
func TestAMemberIsUndoneAlone(t *testing.T) {
	refusal := errors.New("refused")
	for name, c := range map[string]struct {
		fails work
		want  error
	}{
		"refusal": {func(context.Context, *db.Tx) error { return refusal }, refusal},
		"panic":   {func(context.Context, *db.Tx) error { panic(defect) }, errPanic},
		"missed rows": {func(ctx context.Context, tx *db.Tx) error {
			return tx.CommitWith(ctx, db.Affecting(1, db.Exec("DELETE FROM parents")))
		}, db.ErrAffected},
		"error of SQL":     {plain("nonsense"), nil},
		"swallowed error":  {func(ctx context.Context, tx *db.Tx) error { _ = plain("nonsense")(ctx, tx); return nil }, db.ErrFailed},
		"broken reference": {plain("INSERT INTO rows VALUES ('d', 'nobody', NULL)"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := batchStore(t)
			n, answered := new(atomic.Int64), new(atomic.Int64)
			dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
				if sql == db.CommitBatchSQL && when == dbtest.Before {
					n.Add(1)
					if answered.Load() != 0 {
						t.Error("somebody was answered before the commit")
					}
				}
				return nil
			})
			all := newConvoy(t, s)
			var told []*error
			for _, member := range []work{put("a"), both(put("b"), c.fails), put("c")} {
				told = append(told, all.join(func() error {
					defer answered.Add(1)
					return s.InTx(t.Context(), "", member)
				}))
			}
			all.run()
			if *told[0] != nil || *told[2] != nil {
				t.Errorf("its neighbours were told %v and %v", *told[0], *told[2])
			}
			if *told[1] == nil || c.want != nil && !errors.Is(*told[1], c.want) {
				t.Errorf("it was told %v, want %v", *told[1], c.want)
			}
			if diff := cmp.Diff([]string{"a", "c"}, stored(t, s)); diff != "" || n.Load() != 1 {
				t.Errorf("%d commits, %s", n.Load(), diff)
			}
		})
	}
}

// manyRows takes longer than an interruption does.
const manyRows = "WITH RECURSIVE g (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 100000) SELECT i FROM g"

// A request that ends leaves the queue, and from its turn on interrupts nobody: its
// statement runs to its end, the next one does not begin.
func TestEndOfARequestInterruptsNobody(t *testing.T) {
	s := batchStore(t)
	n := commits(t, s)
	waits, leave := context.WithCancel(t.Context())
	runs, end := context.WithCancel(t.Context())
	read := 0
	ends := func(scan func(...any) error) error { read++; end(); return scan(new(int)) }

	all := newConvoy(t, s)
	first := all.join(func() error { return s.InTx(t.Context(), "", put("a")) })
	gone := all.join(func() error { return s.InTx(waits, "", put("b")) })
	leave()
	all.waiting--
	all.await()
	ended := all.join(func() error {
		return s.InTx(runs, "", both(put("c"), func(ctx context.Context, tx *db.Tx) error {
			if err := tx.Batch(ctx, db.Query(ends, manyRows)); err != nil {
				t.Errorf("the statement was interrupted: %v", err)
			}
			err := put("d")(ctx, tx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the next one ended with %v", err)
			}
			return err
		}))
	})
	last := all.join(func() error { return s.InTx(t.Context(), "", put("e")) })
	all.run()

	if *first != nil || *last != nil {
		t.Errorf("the others were told %v and %v", *first, *last)
	}
	if !errors.Is(*gone, context.Canceled) || !errors.Is(*ended, context.Canceled) {
		t.Errorf("those that ended were told %v and %v", *gone, *ended)
	}
	if diff := cmp.Diff([]string{"a", "e"}, stored(t, s)); diff != "" || n.Load() != 1 || read != 100_000 {
		t.Errorf("%d commits, %d rows, %s", n.Load(), read, diff)
	}
}

// Work of one task is never in one batch: what the earlier one did is committed when
// the later one begins.
func TestWorkOfOneTaskSharesNoCommit(t *testing.T) {
	s := batchStore(t)
	all := newConvoy(t, s)
	all.join(func() error { return s.InTx(t.Context(), "task", put("a")) })
	all.members.Go(func() { // waits for the task, not for the writer
		err := s.InTx(t.Context(), "task", func(context.Context, *db.Tx) error {
			if diff := cmp.Diff([]string{"a", "b"}, stored(t, s)); diff != "" {
				t.Errorf("the work before it is not committed: %s", diff)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	all.join(func() error { return s.InTx(t.Context(), "other", put("b")) })
	all.run()
}
