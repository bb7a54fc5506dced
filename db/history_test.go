package db_test

import (
	"context"
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

func TestHistory(t *testing.T) {
	for name, suite := range map[string]func(*testing.T, storetest.Open){
		"transcripts": storetest.Transcripts,
		"executions":  storetest.Executions,
		"reading":     storetest.History,
		"frames":      storetest.Frames,
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
				suite(t, func(tb testing.TB) storetest.Store { return deletingStore{open(tb)} })
			})
		})
	}
}

func TestHistoryStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		var store *db.Store
		storetest.HistoryStatements(t,
			func(tb testing.TB) storetest.Store { store = open(tb); return store },
			func(tb testing.TB, f func(sql string)) {
				dbtest.Probe(tb, store, func(when dbtest.When, sql string) error {
					if when == dbtest.Before {
						f(sql)
					}
					return nil
				})
			})
	})
}

// QU-22 on both databases.
func TestHistoryFaults(t *testing.T) {
	withFaults(t, storetest.HistoryFaults)
}

// deletingStore can delete a session, which no operation of history does.
type deletingStore struct{ *db.Store }

// DeleteSession deletes a session, and by the schema what hangs on it.
func (s deletingStore) DeleteSession(ctx context.Context, id string) error {
	return s.InTx(ctx, "", func(ctx context.Context, t *db.Tx) error {
		_, err := t.NewDelete().Table("task_sessions").Where("id = ?", id).Exec(ctx)
		return err
	})
}
