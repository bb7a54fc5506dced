package db_test

import (
	"testing"

	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

// DL-13, EV-4: a runner waits at one process, and what it waits for comes by another.
func TestAwaitOfTwoProcesses(t *testing.T) {
	storetest.AwaitOfTwo(t, func(tb testing.TB) storetest.Pair {
		url := dbtest.PostgresURL(tb)
		first := newListener(tb, url)
		second := newProcess(tb, url)
		return storetest.Pair{
			Stores:     [2]storetest.Store{first.store, second.store},
			Hub:        first.hub,
			Publisher:  second,
			Disconnect: func(tb testing.TB) { killListeners(tb, url) },
			Silence:    first.Close,
		}
	})
}
