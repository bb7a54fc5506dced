package db_test

import (
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

// QU-22 on both databases.
func TestPromptFaults(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		var store *db.Store
		storetest.PromptFaults(t,
			func(tb testing.TB) storetest.Store { store = open(tb); return store },
			func(tb testing.TB, _ storetest.Store, f func(string) error) {
				dbtest.Probe(tb, store, func(_ dbtest.When, sql string) error { return f(sql) })
			})
	})
}
