package db_test

import (
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

func TestStore(t *testing.T) {
	for name, suite := range map[string]func(*testing.T, storetest.Open){
		"access":      storetest.Access,
		"attachments": storetest.Attachments,
		"await":       storetest.Await,
		"contexts":    storetest.ContextReads,
		"feed":        storetest.Feed,
		"hooks":       storetest.Hooks,
		"lifecycle":   storetest.Lifecycle,
		"plans":       storetest.Plans,
		"prompts":     storetest.Prompts,
		"recovery":    storetest.Recovery,
		"renewals":    storetest.Renewals,
		"runs":        storetest.Runs,
		"sessions":    storetest.Sessions,
		"tasks":       storetest.Tasks,
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
				suite(t, func(tb testing.TB) storetest.Store { return open(tb) })
			})
		})
	}
}

// ofTwo runs a suite on two stores of one database, as two processes have them: nothing
// but the database is between them.
func ofTwo(t *testing.T, suite func(t *testing.T, open func(tb testing.TB) (a, b storetest.Store))) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		suite(t, func(tb testing.TB) (a, b storetest.Store) {
			url := newURL(tb)
			return dbtest.Open(tb, db.Options{URL: url}), dbtest.Open(tb, db.Options{URL: url})
		})
	})
}

// withFaults runs a suite on both databases, which is asked on both sides of every
// statement whether it fails (QU-22).
func withFaults(t *testing.T, suite func(t *testing.T, open storetest.Open, probe storetest.Probe)) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		suite(t,
			func(tb testing.TB) storetest.Store { return open(tb) },
			func(tb testing.TB, s storetest.Store, f func(string) error) {
				dbtest.Probe(tb, s.(*db.Store), func(_ dbtest.When, sql string) error { return f(sql) })
			})
	})
}

// PC-12: two processes on one database.
func TestPlansOfTwoProcesses(t *testing.T) {
	ofTwo(t, storetest.PlansOfTwo)
}
