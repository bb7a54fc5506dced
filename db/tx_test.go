package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// counterStore has a table of counters, as every test of transactions needs one.
func counterStore(tb testing.TB, open func(testing.TB) *db.Store) *db.Store {
	tb.Helper()
	s := open(tb)
	err := s.InTx(tb.Context(), "", func(ctx context.Context, t *db.Tx) error {
		if _, err := t.NewRaw("CREATE TABLE counters (id text PRIMARY KEY, n bigint NOT NULL)").Exec(ctx); err != nil {
			return err
		}
		_, err := t.NewRaw("INSERT INTO counters VALUES ('a', 0)").Exec(ctx)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func count(tb testing.TB, s *db.Store) (n int) {
	tb.Helper()
	err := s.Read(tb.Context(), func(ctx context.Context, q db.Querier) error {
		return q.NewSelect().Table("counters").Column("n").Where("id = 'a'").Scan(ctx, &n)
	})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func increment(ctx context.Context, t *db.Tx) error {
	_, err := t.NewUpdate().Table("counters").Set("n = n + 1").Where("id = ?", "a").Exec(ctx)
	return err
}

func TestTxCommitsOrLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		if err := s.InTx(t.Context(), "task", increment); err != nil {
			t.Fatal(err)
		}
		refusal := errors.New("refused")
		err := s.InTx(t.Context(), "task", func(ctx context.Context, tx *db.Tx) error {
			if err := increment(ctx, tx); err != nil {
				return err
			}
			return refusal
		})
		if !errors.Is(err, refusal) {
			t.Errorf("error = %v", err)
		}
		if n := count(t, s); n != 1 {
			t.Errorf("counter = %d, want 1", n)
		}
	})
}

// A request that goes away undoes what it began, and gives the connection back.
func TestRollbackSurvivesACancelledRequest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		for range 20 { // more than any pool holds
			ctx, cancel := context.WithCancel(t.Context())
			err := s.InTx(ctx, "task", func(ctx context.Context, tx *db.Tx) error {
				if err := increment(ctx, tx); err != nil {
					return err
				}
				cancel()
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error = %v, want %v", err, context.Canceled)
			}
		}
		if n := count(t, s); n != 0 {
			t.Errorf("counter = %d, want 0", n)
		}
		if err := s.InTx(t.Context(), "task", increment); err != nil {
			t.Error(err)
		}
	})
}

func TestPanicRollsBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = s.InTx(t.Context(), "task", func(ctx context.Context, tx *db.Tx) error {
				if err := increment(ctx, tx); err != nil {
					return err
				}
				panic("defect")
			})
		}()
		if n := count(t, s); n != 0 {
			t.Errorf("counter = %d, want 0", n)
		}
	})
}

// A fault at every statement in turn, before and after it: the counter moves by
// one exactly when a commit got through.
func TestFaultAtEveryStatement(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		fault := errors.New("fault")
		for point := 1; ; point++ {
			before, seen := count(t, s), 0
			committed := false
			dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
				if seen++; seen == point {
					return fault
				}
				committed = committed || when == dbtest.Before && sql == db.CommitSQL
				return nil
			})
			err := s.InTx(t.Context(), "task", func(ctx context.Context, tx *db.Tx) error {
				if err := increment(ctx, tx); err != nil {
					return err
				}
				return bump(s)(ctx, tx)
			})
			s.SetProbe(nil)
			want := before
			if committed {
				want += 2
			}
			if n := count(t, s); n != want {
				t.Errorf("point %d: counter = %d, want %d", point, n, want)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, fault) {
				t.Fatalf("point %d: %v", point, err)
			}
		}
	})
}

// A consistent read does not see what is committed while it runs.
func TestReadIsOneState(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		var first, second int
		err := s.InRead(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			q := func(n *int) error { return tx.NewSelect().Table("counters").Column("n").Scan(ctx, n) }
			if err := q(&first); err != nil {
				return err
			}
			if err := s.InTx(ctx, "task", increment); err != nil {
				return err
			}
			return q(&second)
		})
		if err != nil {
			t.Fatal(err)
		}
		if first != 0 || second != 0 {
			t.Errorf("read %d, then %d, want 0 twice", first, second)
		}
		err = s.InRead(t.Context(), increment)
		if err == nil {
			t.Error("a read transaction wrote")
		}
	})
}

// A server that ends a connection costs an attempt, not the request.
func TestLostConnectionIsTriedAgain(t *testing.T) {
	s := counterStore(t, func(tb testing.TB) *db.Store {
		return dbtest.Open(tb, db.Options{URL: dbtest.PostgresURL(tb)})
	})
	attempts := 0
	err := s.InTx(t.Context(), "task", func(ctx context.Context, tx *db.Tx) error {
		attempts++
		if err := increment(ctx, tx); err != nil {
			return err
		}
		if attempts == 1 {
			_, err := tx.NewRaw("SELECT pg_terminate_backend(pg_backend_pid())").Exec(ctx)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, s); n != 1 || attempts != 2 {
		t.Errorf("counter = %d after %d attempts, want 1 after 2", n, attempts)
	}
}

func TestNowIsTheDatabasesClock(t *testing.T) {
	want := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
	s := dbtest.Open(t, db.Options{URL: dbtest.SQLiteURL(t), Clock: func() time.Time { return want }})
	var got time.Time
	now := func(ctx context.Context, tx *db.Tx) (err error) {
		got, err = tx.Now(ctx)
		return err
	}
	if err := s.InTx(t.Context(), "", now); err != nil || !got.Equal(want) {
		t.Errorf("now = %v (%v), want %v", got, err, want)
	}
	s = dbtest.Open(t, db.Options{URL: dbtest.PostgresURL(t), Clock: func() time.Time { return want }})
	if err := s.InTx(t.Context(), "", now); err != nil || got.IsZero() || got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("now = %v (%v), want the server's", got, err)
	}
}
