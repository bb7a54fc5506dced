package db_test

import (
	"context"
	"fmt"
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

// Pools that are as small as they may be serve more hooks at once than they have
// connections: in one process, and in two.
func TestHooksOnSmallPools(t *testing.T) {
	for _, size := range []int{2, 4} {
		t.Run(fmt.Sprintf("%d connections", size), func(t *testing.T) {
			dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
				storetest.HooksOfTwo(t, func(tb testing.TB) (a, b storetest.Store) {
					s := dbtest.Open(tb, db.Options{URL: newURL(tb), MaxConnections: size})
					return s, s
				})
			})
			t.Run("postgres, two processes", func(t *testing.T) {
				t.Parallel()
				storetest.HooksOfTwo(t, func(tb testing.TB) (a, b storetest.Store) {
					url := dbtest.PostgresURL(tb)
					return dbtest.Open(tb, db.Options{URL: url, MaxConnections: size}), dbtest.Open(tb, db.Options{URL: url, MaxConnections: size})
				})
			})
		})
	}
}

func TestHookThatLosesItsLease(t *testing.T) {
	s := dbtest.Open(t, db.Options{URL: dbtest.PostgresURL(t)})
	storetest.HookLosesItsLease(t, func(testing.TB) storetest.Store { return s }, func(ctx context.Context) {
		terminate(t, s, backend(ctx, t, s))
	})
}
