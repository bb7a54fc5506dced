// Package dbtest gives tests empty migrated databases, SQLite and PostgreSQL,
// with the settings that production has.
//
// SQLite databases are files in the folder of the test. PostgreSQL is a server
// that the tests start from the binaries on this machine, share among all test
// processes of the user, and stop when the last of them ends, however it ends: in
// memory where /dev/shm has room, or in the folder GATEHOUSE_TEST_FOLDER names; or the
// server that GATEHOUSE_TEST_POSTGRES names, as a role that may create
// databases. Without either a test fails: it never skips.
package dbtest

import (
	"testing"

	"gatehouse/db"
	"gatehouse/db/internal/probe"
)

// Each runs f on both databases, as the sub-tests "sqlite" and "postgres". Every
// call of open gives a store on an empty database of its own.
func Each(t *testing.T, f func(t *testing.T, open func(testing.TB) *db.Store)) {
	t.Helper()
	EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		f(t, func(tb testing.TB) *db.Store { return Open(tb, db.Options{URL: newURL(tb)}) })
	})
}

// EachURL is Each for tests that open stores themselves, or start processes:
// every call of newURL gives the URL of an empty migrated database.
func EachURL(t *testing.T, f func(t *testing.T, newURL func(testing.TB) string)) {
	t.Helper()
	for name, newURL := range map[string]func(testing.TB) string{"sqlite": SQLiteURL, "postgres": PostgresURL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // both mostly wait for a disk
			f(t, newURL)
		})
	}
}

// Open opens a store, and closes it when the test ends.
func Open(tb testing.TB, opts db.Options) *db.Store {
	tb.Helper()
	s, err := db.Open(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// When says on which side of a statement a probe is asked.
type When = probe.When

// The two sides of a statement.
const (
	Before = probe.Before
	After  = probe.After
)

// Probe has f called around every statement of s until the test ends. The error
// it returns becomes the statement's. It must be safe for concurrent use.
func Probe(tb testing.TB, s *db.Store, f func(when When, sql string) error) {
	ProbeArgs(tb, s, func(when When, sql string, _ []any) error { return f(when, sql) })
}

// ProbeArgs is [Probe] for who asks with what arguments as well.
func ProbeArgs(tb testing.TB, s *db.Store, f func(when When, sql string, args []any) error) {
	s.SetProbe(f)
	tb.Cleanup(func() { s.SetProbe(nil) })
}
