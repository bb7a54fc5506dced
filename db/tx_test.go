package db_test

import (
	"context"
	"errors"
	"testing"

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
