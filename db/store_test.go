package db_test

import (
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

func TestStore(t *testing.T) {
	for name, suite := range map[string]func(*testing.T, storetest.Open){
		"access":   storetest.Access,
		"sessions": storetest.Sessions,
		"tasks":    storetest.Tasks,
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
				suite(t, func(tb testing.TB) storetest.Store { return open(tb) })
			})
		})
	}
}
