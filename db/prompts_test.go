package db_test

import (
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/storetest"
)

// QU-22 on both databases.
func TestPromptFaults(t *testing.T) {
	withFaults(t, storetest.PromptFaults)
}

// AD-7, DL-1, DL-2: two processes on one database.
func TestPromptsOfTwoProcesses(t *testing.T) {
	ofTwo(t, storetest.PromptsOfTwo)
}

// DL-3: on both databases, also where something fails.
func TestRecoveryFaults(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		var store *db.Store
		storetest.RecoveryFaults(t,
			func(tb testing.TB) storetest.Store { store = open(tb); return store },
			func(tb testing.TB, _ storetest.Store, f func(string) error) {
				dbtest.Probe(tb, store, func(when dbtest.When, sql string) error {
					if when == dbtest.After {
						return nil
					}
					return f(sql)
				})
			})
	})
}

// DL-3: two processes on one database.
func TestRecoveryOfTwoProcesses(t *testing.T) {
	ofTwo(t, storetest.RecoveryOfTwo)
}

// AD-10: the same for attachments.
func TestAttachmentsOfTwoProcesses(t *testing.T) {
	ofTwo(t, storetest.AttachmentsOfTwo)
}

// AD-7, AD-9: the same for Run.
func TestRunsOfTwoProcesses(t *testing.T) {
	ofTwo(t, storetest.RunsOfTwo)
}
