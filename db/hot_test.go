package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// bump is a load → decide → store in two round trips.
func bump(s *db.Store) func(context.Context, *db.Tx) error {
	load := "SELECT n FROM counters WHERE id = $1" + s.Lock()
	return func(ctx context.Context, t *db.Tx) error {
		n := 0
		one := func(scan func(...any) error) error { return scan(&n) }
		if err := t.Batch(ctx, db.Query(one, load, "a")); err != nil {
			return err
		}
		return t.CommitWith(ctx, db.Affecting(1, db.Exec("UPDATE counters SET n = $1 WHERE id = $2", n+1, "a")))
	}
}

func TestHotPathLoadsDecidesAndStores(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		for range 3 {
			if err := s.InTx(t.Context(), "task", bump(s)); err != nil {
				t.Fatal(err)
			}
		}
		// A query of bun and a batch share one transaction, whichever is first.
		err := s.InTx(t.Context(), "task", func(ctx context.Context, tx *db.Tx) error {
			if err := increment(ctx, tx); err != nil {
				return err
			}
			return bump(s)(ctx, tx)
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := count(t, s); n != 5 {
			t.Errorf("counter = %d, want 5", n)
		}
	})
}

// More transactions on one row than the pool has connections, in two processes'
// stead: none is lost, none starves (AD-7, QU).
func TestContentionOnOneTask(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		for round, key := range []string{"task", ""} { // with and without the lock of the process
			var group sync.WaitGroup
			for range 32 {
				group.Go(func() {
					if err := s.InTx(t.Context(), key, bump(s)); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if n := count(t, s); n != 32*(round+1) {
				t.Errorf("counter = %d, want %d", n, 32*(round+1))
			}
		}
	})
}

func TestWriteThatMissesItsRowsStoresNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		for range 2 { // the second time the statements are prepared
			err := s.InTx(t.Context(), "task", func(ctx context.Context, tx *db.Tx) error {
				return tx.CommitWith(ctx,
					db.Exec("UPDATE counters SET n = n + 1 WHERE id = $1", "a"),
					db.Affecting(2, db.Exec("UPDATE counters SET n = n + 1 WHERE id = $1", "a")))
			})
			if !errors.Is(err, db.ErrAffected) {
				t.Errorf("error = %v, want %v", err, db.ErrAffected)
			}
		}
		if n := count(t, s); n != 0 {
			t.Errorf("counter = %d, want 0", n)
		}
	})
}

func TestNothingRunsAfterCommit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		err := s.InTx(t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
			if err := tx.CommitWith(ctx); err != nil {
				return err
			}
			return increment(ctx, tx)
		})
		if err == nil {
			t.Error("a statement ran after the commit")
		}
	})
}

// A failed statement whose error was swallowed must not look like a commit.
func TestCommitOfAFailedTransactionIsAnError(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := counterStore(t, open)
		err := s.InTx(t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
			if err := increment(ctx, tx); err != nil {
				return err
			}
			_, err := tx.NewRaw("SELECT nothing").Exec(ctx)
			if err == nil {
				t.Error("want an error")
			}
			return nil
		})
		if err == nil {
			t.Error("commit of a failed transaction succeeded")
		}
		if n := count(t, s); n != 0 {
			t.Errorf("counter = %d, want 0", n)
		}
	})
}

type moment struct {
	ID   string `bun:",pk"`
	At   time.Time
	Then *time.Time
}

// Times come back as they went in, in UTC, and compare as they are stored.
func TestTimes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := open(t)
		zone := time.FixedZone("east", 3*60*60)
		whole := time.Date(2026, 1, 2, 3, 4, 5, 0, zone)
		later := whole.Add(500 * time.Millisecond)
		column := map[string]string{"sqlite": "text", "postgres": "timestamptz"}[s.Name()]
		err := s.InTx(t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.NewRaw("CREATE TABLE moments (id text PRIMARY KEY, at " + column + " NOT NULL, \"then\" " + column + ")").Exec(ctx)
			if err != nil {
				return err
			}
			rows := []moment{{"a", whole, &later}, {"b", later, nil}}
			if _, err := tx.NewInsert().Model(&rows).Exec(ctx); err != nil {
				return err
			}
			return tx.CommitWith(ctx, db.Exec("INSERT INTO moments VALUES ($1, $2, $3)", "c", s.TimeArg(whole), nil))
		})
		if err != nil {
			t.Fatal(err)
		}
		var byBun, byHot []moment
		err = s.InRead(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			byBun, byHot = nil, nil
			err := tx.NewSelect().Model(&byBun).Where("at <= ?", later).Order("at", "id").Scan(ctx)
			if err != nil {
				return err
			}
			each := func(scan func(...any) error) error {
				var e moment
				err := scan(&e.ID, db.ScanTime(&e.At), db.ScanNullTime(&e.Then))
				byHot = append(byHot, e)
				return err
			}
			return tx.Batch(ctx, db.Query(each, `SELECT id, at, "then" FROM moments WHERE at <= $1 ORDER BY at, id`, s.TimeArg(later)))
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []moment{{"a", whole, &later}, {"c", whole, nil}, {"b", later, nil}}
		if diff := cmp.Diff(want, byBun); diff != "" {
			t.Errorf("bun (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, byHot); diff != "" {
			t.Errorf("hot (-want +got):\n%s", diff)
		}
		for _, e := range append(byBun, byHot...) {
			if e.At.Location() != time.UTC || e.Then != nil && e.Then.Location() != time.UTC {
				t.Errorf("%s is not in UTC", e.ID)
			}
		}
	})
}

func TestSQLiteTimesHaveOneWidth(t *testing.T) {
	s := dbtest.Open(t, db.Options{URL: dbtest.SQLiteURL(t)})
	var stored string
	err := s.Read(t.Context(), func(ctx context.Context, q db.Querier) error {
		return q.NewSelect().ColumnExpr("?", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)).Scan(ctx, &stored)
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "2026-01-02T03:04:05.000000Z"; stored != want {
		t.Errorf("stored %s, want %s", stored, want)
	}
}

func BenchmarkTransaction(b *testing.B) {
	for name, newURL := range map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL, "postgres": dbtest.PostgresURL} {
		s := counterStore(b, func(tb testing.TB) *db.Store { return dbtest.Open(tb, db.Options{URL: newURL(tb)}) })
		b.Run(name+"/bun", func(b *testing.B) {
			for b.Loop() {
				err := s.InTx(b.Context(), "task", func(ctx context.Context, tx *db.Tx) error {
					n := 0
					q := tx.NewSelect().Table("counters").Column("n").Where("id = ?", "a")
					if s.Lock() != "" {
						q = q.For("NO KEY UPDATE")
					}
					if err := q.Scan(ctx, &n); err != nil {
						return err
					}
					_, err := tx.NewUpdate().Table("counters").Set("n = ?", n+1).Where("id = ?", "a").Exec(ctx)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/hot", func(b *testing.B) {
			for b.Loop() {
				if err := s.InTx(b.Context(), "task", bump(s)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
