package db

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestKeyedMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m keyedMutex
		unlock, err := m.lock(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		// Another key, and no key, wait for nobody.
		for _, key := range []string{"b", "", ""} {
			other, err := m.lock(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			defer other()
		}
		// Whoever gives up leaves the line; the others come in their order.
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.lock(gone, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
		var order []int
		for i := range 3 {
			go func() {
				unlock, err := m.lock(t.Context(), "a")
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i)
				unlock()
			}()
			synctest.Wait()
		}
		unlock()
		synctest.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("order = %v", order)
		}
		if len(m.locks) != 1 { // b, until the end
			t.Errorf("%d keys are kept, want 1", len(m.locks))
		}
	})
}
