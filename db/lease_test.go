package db_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
)

// pair is two stores on one PostgreSQL, as two processes have them, with pools of size.
func pair(t *testing.T, size int) (a, b *db.Store) {
	t.Helper()
	url := dbtest.PostgresURL(t)
	open := func(testing.TB) *db.Store { return dbtest.Open(t, db.Options{URL: url, MaxConnections: size}) }
	return counterStore(t, open), open(t)
}

// backend is the connection that ctx leads to.
func backend(ctx context.Context, t *testing.T, s *db.Store) (pid int) {
	t.Helper()
	err := s.Read(ctx, func(ctx context.Context, q db.Querier) error {
		return q.NewSelect().ColumnExpr("pg_backend_pid()").Scan(ctx, &pid)
	})
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// terminate ends a connection, as a server does that goes away.
func terminate(t *testing.T, s *db.Store, pid int) {
	t.Helper()
	err := s.Read(t.Context(), func(ctx context.Context, q db.Querier) error {
		var ended bool
		return q.NewRaw("SELECT pg_terminate_backend(?, 10000)", pid).Scan(ctx, &ended)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func nothing(context.Context) error { return nil }

// alone runs 24 holders of one lease at once, each through the store of its turn.
func alone(t *testing.T, stores ...*db.Store) {
	var inside, done atomic.Int64
	var group sync.WaitGroup
	for i := range 24 {
		s := stores[i%len(stores)]
		group.Go(func() {
			err := s.WithLease(t.Context(), "task", func(ctx context.Context) error {
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lease", n)
				}
				defer inside.Add(-1)
				done.Add(1)
				return s.InTx(ctx, "task", increment)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := count(t, stores[0]); done.Load() != 24 || n != 24 {
		t.Errorf("%d held it, the counter is %d", done.Load(), n)
	}
}

func TestLeaseIsHeldByOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) { alone(t, counterStore(t, open)) })
}

func TestLeaseIsHeldByOneOfTwoProcesses(t *testing.T) {
	a, b := pair(t, 4)
	alone(t, a, b)
}

// What the holder asks of the database never waits for the pool: every transaction
// and read runs on the connection of the lease, also with no other one free.
func TestLeaseWorksOnItsOwnConnection(t *testing.T) {
	s, _ := pair(t, 2)
	err := s.WithLease(t.Context(), "task", func(ctx context.Context) error {
		pid := backend(ctx, t, s)
		same := func(ctx context.Context, tx *db.Tx) error {
			var own int
			err := tx.NewSelect().ColumnExpr("pg_backend_pid()").Scan(ctx, &own)
			if own != pid {
				t.Errorf("ran on connection %d, the lease's is %d", own, pid)
			}
			return err
		}
		return s.InTx(t.Context(), "other", func(context.Context, *db.Tx) error { // the last one of the pool
			if err := s.InRead(ctx, same); err != nil {
				return err
			}
			if err := s.InTx(ctx, "task", increment); err != nil {
				return err
			}
			return s.InTx(ctx, "task", same)
		})
	})
	if n := count(t, s); err != nil || n != 1 {
		t.Errorf("counter = %d, %v", n, err)
	}
}

// A hook may read with its context from several goroutines, and from within a read.
func TestLeaseTakesTurnsOnItsConnection(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		err := s.WithLease(t.Context(), "task", func(ctx context.Context) error {
			var group sync.WaitGroup
			for range 16 {
				group.Go(func() {
					err := s.InRead(ctx, func(ctx context.Context, tx *db.Tx) error {
						if err := s.InTx(ctx, "", increment); err != nil { // on another connection
							return err
						}
						return bump(s)(ctx, tx)
					})
					if err == nil {
						t.Error("a read wrote")
					}
					if err := s.InTx(ctx, "task", bump(s)); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			return nil
		})
		if n := count(t, s); err != nil || n < 32 {
			t.Errorf("counter = %d, %v", n, err)
		}
	})
}

// A second lease inside the first would wait in a circle.
func TestLeaseInsideALease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		err := s.WithLease(t.Context(), "task", func(ctx context.Context) error {
			if err := s.InTx(ctx, "task", func(ctx context.Context, _ *db.Tx) error { return s.WithLease(ctx, "x", nothing) }); !errors.Is(err, db.ErrLeased) {
				t.Errorf("in a transaction: %v", err)
			}
			return s.WithLease(ctx, "another", nothing)
		})
		if !errors.Is(err, db.ErrLeased) {
			t.Errorf("error = %v, want %v", err, db.ErrLeased)
		}
		if err := s.WithLease(t.Context(), "task", nothing); err != nil {
			t.Error(err)
		}
	})
}

// A waiter whose request ends leaves the line, wherever it waits: for a holder of its
// own process, for one of another, or for a connection.
func TestCancelledWaiterLeaves(t *testing.T) {
	a, b := pair(t, 2)
	leaves := func(s *db.Store, task string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := s.WithLease(ctx, task, func(context.Context) error { t.Errorf("got the lease of %s", task); return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want the end of the request", err)
		}
	}
	err := a.WithLease(t.Context(), "task", func(context.Context) error {
		leaves(a, "task")    // the mutex of the process
		leaves(a, "another") // the only lease that the pool affords
		leaves(b, "task")    // the lock of the database
		if n := count(t, a); n != 0 {
			t.Errorf("counter = %d", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	alone(t, a, b)
}

// A waiter for another process holds no connection, and no place for a lease.
func TestWaiterHoldsNothing(t *testing.T) {
	a, b := pair(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiter sync.WaitGroup
	err := a.WithLease(t.Context(), "task", func(context.Context) error {
		tried := make(chan struct{}, 1)
		dbtest.Probe(t, b, func(when dbtest.When, sql string) error {
			if when == dbtest.After && sql == db.LeaseSQL {
				select {
				case tried <- struct{}{}:
				default:
				}
			}
			return nil
		})
		waiter.Go(func() {
			if err := b.WithLease(ctx, "task", nothing); !errors.Is(err, context.Canceled) {
				t.Errorf("waiter: %v", err)
			}
		})
		<-tried
		err := b.WithLease(t.Context(), "another", func(ctx context.Context) error {
			<-tried // it goes on trying, and what it needs is there
			return b.InTx(t.Context(), "another", func(context.Context, *db.Tx) error { return b.InTx(ctx, "", increment) })
		})
		// It leaves before the lease is free: else it might be given it.
		cancel()
		waiter.Wait()
		return err
	})
	if n := count(t, a); err != nil || n != 1 {
		t.Errorf("counter = %d, %v", n, err)
	}
}

// With its connection the lease is lost. Nothing runs on without it: not on another
// connection, not a second time. The next lease is as good as any.
func TestLostLeaseFailsClosed(t *testing.T) {
	a, b := pair(t, 4)
	err := a.WithLease(t.Context(), "task", func(ctx context.Context) error {
		terminate(t, b, backend(ctx, t, a))
		ran := 0
		write := func(ctx context.Context, tx *db.Tx) error { ran++; return increment(ctx, tx) }
		for range 2 {
			if err := a.InTx(ctx, "task", write); !errors.Is(err, domain.ErrUnavailable) {
				t.Errorf("write: %v, want %v", err, domain.ErrUnavailable)
			}
			if err := a.InRead(ctx, write); !errors.Is(err, domain.ErrUnavailable) {
				t.Errorf("read: %v, want %v", err, domain.ErrUnavailable)
			}
		}
		if ran != 4 {
			t.Errorf("ran %d times, want each once", ran)
		}
		// The lock went with the connection: another process may have it now.
		return b.WithLease(t.Context(), "task", nothing)
	})
	if err != nil {
		t.Error(err)
	}
	if n := count(t, a); n != 0 {
		t.Errorf("counter = %d, want 0", n)
	}
	alone(t, a, b)
}

// A connection that may hold the lock still serves nobody else.
func TestUnlockThatIsNotConfirmed(t *testing.T) {
	fault := errors.New("fault")
	for _, side := range []dbtest.When{dbtest.Before, dbtest.After} {
		t.Run(string(side), func(t *testing.T) {
			a, b := pair(t, 2)
			var pid int
			dbtest.Probe(t, a, func(when dbtest.When, sql string) error {
				if when == side && sql == db.UnleaseSQL {
					return fault
				}
				return nil
			})
			err := a.WithLease(t.Context(), "task", func(ctx context.Context) error { pid = backend(ctx, t, a); return nil })
			if err != nil {
				t.Fatalf("what was done under the lease is done: %v", err)
			}
			a.SetProbe(nil)
			for range 3 { // through whatever connections the pool has
				if err := a.InTx(t.Context(), "", func(context.Context, *db.Tx) error {
					if got := backend(t.Context(), t, a); got == pid {
						t.Error("the connection is in the pool")
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			alone(t, a, b)
		})
	}
}

// A lease that was given but whose answer was lost is nobody's.
func TestLeaseWhoseAnswerIsLost(t *testing.T) {
	fault := errors.New("fault")
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		for _, side := range []dbtest.When{dbtest.Before, dbtest.After} {
			dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
				if when == side && sql == db.LeaseSQL {
					return fault
				}
				return nil
			})
			err := s.WithLease(t.Context(), "task", func(context.Context) error { t.Error("ran"); return nil })
			if !errors.Is(err, fault) {
				t.Errorf("%s: %v", side, err)
			}
		}
		s.SetProbe(nil)
		alone(t, s)
	})
}

// The transactions of a lease do what all do: they run again where that helps, and
// undo what a request that went away began.
func TestLeasedTransactions(t *testing.T) {
	s, other := pair(t, 2)
	err := s.WithLease(t.Context(), "task", func(ctx context.Context) error {
		attempts := 0
		err := s.InTx(ctx, "task", func(ctx context.Context, tx *db.Tx) error {
			if attempts++; attempts < db.RetryAttempts {
				return errors.Join(increment(ctx, tx), &pgconn.PgError{Code: "40P01"})
			}
			return increment(ctx, tx)
		})
		if err != nil || attempts != db.RetryAttempts {
			t.Errorf("%d attempts, %v", attempts, err)
		}
		gone, cancel := context.WithCancel(ctx)
		err = s.InTx(gone, "task", func(ctx context.Context, tx *db.Tx) error {
			defer cancel()
			return increment(ctx, tx)
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		pid := backend(ctx, t, s) // the connection is still good
		if err := other.Read(t.Context(), func(ctx context.Context, q db.Querier) error {
			var state string
			err := q.NewRaw("SELECT state FROM pg_stat_activity WHERE pid = ?", pid).Scan(ctx, &state)
			if strings.Contains(state, "transaction") {
				t.Errorf("the lease waits in state %q", state)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		return s.InTx(ctx, "task", increment)
	})
	if n := count(t, s); err != nil || n != 2 {
		t.Errorf("counter = %d, %v", n, err)
	}
}

// A panic of a holder, or a context that outlives its lease, leaves nothing behind.
func TestLeaseThatIsLeft(t *testing.T) {
	a, b := pair(t, 2)
	var late context.Context
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = a.WithLease(t.Context(), "task", func(ctx context.Context) error { late = ctx; panic("defect") }) //nolint:fatcontext // that is the point
	}()
	if err := a.InTx(late, "task", increment); !errors.Is(err, domain.ErrUnavailable) {
		t.Errorf("after the lease: %v, want %v", err, domain.ErrUnavailable)
	}
	alone(t, a, b)
}
