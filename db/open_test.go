package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
)

// The path of a file is taken literally (OP-3).
func TestOpenSQLitePaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for url, want := range map[string]string{
		"sqlite:plain.db":                     "plain.db",
		"sqlite://./dot.db":                   "dot.db",
		"sqlite://" + dir + "/absolute.db":    "absolute.db",
		"sqlite:a b?c=d&e%20f#g;h'i\"j é🙂.db": "a b?c=d&e%20f#g;h'i\"j é🙂.db",
		"sqlite:?_pragma=foreign_keys(0).db":  "?_pragma=foreign_keys(0).db",
		"sqlite:file:odd.db":                  "file:odd.db",
	} {
		s := dbtest.Open(t, db.Options{URL: url})
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("This is no database, it is a text."), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		opts db.Options
		want string
	}{
		"scheme":      {db.Options{URL: "mysql://x"}, "must begin with"},
		"memory":      {db.Options{URL: "sqlite::memory:"}, "not supported"},
		"no file":     {db.Options{URL: "sqlite:"}, "names no file"},
		"folder":      {db.Options{URL: "sqlite:" + dir + "/none/x.db"}, "create it first"},
		"no database": {db.Options{URL: "sqlite:" + text}, "not an SQLite database"},
		"connections": {db.Options{URL: "sqlite:x.db", MaxConnections: 1}, "too few"},
		"synchronous": {db.Options{URL: "sqlite:" + dir + "/x.db", SQLiteSynchronous: "OFF"}, "must be FULL or NORMAL"},
		"bad URL":     {db.Options{URL: "postgres://me:s3cret@host:notaport/x"}, "cannot be read"},
		"pool's size": {db.Options{URL: "postgres://me:s3cret@host/x?pool_max_conns=1"}, "leave pool_max_conns out"},
		"bad setting": {db.Options{URL: "postgres://me:s3cret@host/x?sslmode=perhaps"}, "cannot be read"},
		"bad escape":  {db.Options{URL: "postgres://me:s3cret%zz@host/x"}, "cannot be read"},
		"no server":   {db.Options{URL: "postgres://me:s3cret@127.0.0.1:1/x"}, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := db.Open(t.Context(), c.opts)
			if err == nil {
				_ = s.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
			if strings.Contains(fmt.Sprintf("%+v", err), "s3cret") {
				t.Errorf("the error holds the password: %v", err)
			}
		})
	}
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		ignore := goleak.IgnoreCurrent()
		s, err := db.Open(t.Context(), db.Options{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, ignore)
	})
}

// A full disk is told as that, and leaves a database that goes on (SQLite).
func TestFullDisk(t *testing.T) {
	s := dbtest.Open(t, db.Options{URL: dbtest.SQLiteURL(t)})
	pages := func(n string) {
		t.Helper()
		err := s.InTx(t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.NewRaw("PRAGMA max_page_count = " + n).Exec(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	grow := func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.NewRaw("CREATE TABLE big AS SELECT zeroblob(1000000) AS b").Exec(ctx)
		return err
	}
	pages("1") // no less than there are
	if err := s.InTx(t.Context(), "task", grow); !errors.Is(err, domain.ErrStorageFull) {
		t.Errorf("error = %v, want %v", err, domain.ErrStorageFull)
	}
	pages("1000000")
	if err := s.InTx(t.Context(), "task", grow); err != nil {
		t.Error(err)
	}
}

// What the dialect calls retryable is run again, a bounded number of times.
func TestRetryIsBounded(t *testing.T) {
	s := dbtest.Open(t, db.Options{URL: dbtest.PostgresURL(t)})
	attempts := 0
	err := s.InTx(t.Context(), "task", func(context.Context, *db.Tx) error {
		attempts++
		return &pgconn.PgError{Code: "40P01"}
	})
	if !errors.Is(err, domain.ErrUnavailable) || attempts != db.RetryAttempts {
		t.Errorf("error = %v after %d attempts, want %v after %d", err, attempts, domain.ErrUnavailable, db.RetryAttempts)
	}
}

// Driver errors become failures of the domain by their code.
func TestClassify(t *testing.T) {
	s := dbtest.Open(t, db.Options{URL: dbtest.PostgresURL(t)})
	for code, want := range map[string]error{
		"53100": domain.ErrStorageFull,
		"53300": domain.ErrUnavailable, "57P03": domain.ErrUnavailable, "08006": domain.ErrUnavailable,
		"25006": domain.ErrUnavailable, "55P03": domain.ErrUnavailable, "40P01": domain.ErrUnavailable,
	} {
		if err := s.Classify(t.Context(), &pgconn.PgError{Code: code}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", code, err, want)
		}
	}
	if err := s.Classify(t.Context(), &pgconn.PgError{Code: "23505"}); errors.Is(err, domain.ErrUnavailable) {
		t.Error("a violated constraint is a defect, not an outage")
	}
}

// API-9: values stay values, whatever the server's or the role's defaults are.
func TestQuotingIsOurs(t *testing.T) {
	url := dbtest.PostgresURL(t)
	within := func(url string, do func(ctx context.Context, q db.Querier) error) {
		t.Helper()
		if err := dbtest.Open(t, db.Options{URL: url}).Read(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	within(url, func(ctx context.Context, q db.Querier) error {
		_, err := q.NewRaw(`DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET standard_conforming_strings = off', current_database());
  EXECUTE format('ALTER DATABASE %I SET client_encoding = LATIN1', current_database());
END $$`).Exec(ctx)
		return err
	})
	within(url, func(ctx context.Context, q db.Querier) error {
		const value = `\' || 'é`
		var got string
		err := q.NewSelect().ColumnExpr("?", value).Scan(ctx, &got)
		if got != value {
			t.Errorf("%q came back as %q", value, got)
		}
		return err
	})
}

// OP-9: PostgreSQL repeats a value it refuses in its message. We do not.
func TestRefusedValueStaysQuiet(t *testing.T) {
	s := dbtest.Open(t, db.Options{URL: dbtest.PostgresURL(t)})
	err := s.Read(t.Context(), func(ctx context.Context, q db.Querier) error {
		_, err := q.NewRaw("SELECT CAST('what a person wrote' AS bigint)").Exec(ctx)
		return err
	})
	if refused, ok := errors.AsType[*pgconn.PgError](err); !ok || refused.Code != "22P02" {
		t.Fatalf("error is %v", err)
	}
	if strings.Contains(err.Error(), "person") {
		t.Errorf("error is %v", err)
	}
}

func TestRegister(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := open(t)
		reg := prometheus.NewPedanticRegistry()
		if err := s.Register(reg); err != nil {
			t.Fatal(err)
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]int{}
		for _, f := range families {
			names[f.GetName()] = len(f.GetMetric())
		}
		want := map[string]int{"sqlite": 2, "postgres": 1}[s.Name()]
		if names["go_sql_open_connections"] != want {
			t.Errorf("pools = %d, want %d", names["go_sql_open_connections"], want)
		}
		if got := names["gatehouse_sqlite_wal_bytes"]; got != want-1 {
			t.Errorf("WAL gauges = %d, want %d", got, want-1)
		}
	})
}
