package db_test

import (
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

func TestRecords(t *testing.T) {
	for name, suite := range map[string]func(*testing.T, storetest.Open){
		"completion":     storetest.Completion,
		"recorded turns": storetest.RecordedTurns,
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
				suite(t, func(tb testing.TB) storetest.Store { return open(tb) })
			})
		})
	}
}
