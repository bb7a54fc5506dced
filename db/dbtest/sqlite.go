package dbtest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gatehouse/db"
)

// sqliteTemplate is the content of an empty migrated database.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "gatehouse-test-sqlite")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "template.db")
	if err := migrate(context.Background(), "sqlite:"+path); err != nil {
		return nil, err
	}
	return os.ReadFile(path) //nolint:gosec // made above; closing it emptied the WAL
})

// SQLiteURL is the URL of an empty migrated database in the folder of the test.
func SQLiteURL(tb testing.TB) string {
	tb.Helper()
	content, err := sqliteTemplate()
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "gatehouse.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return "sqlite:" + path
}

// migrate opens the database of an URL, migrates it and closes it.
func migrate(ctx context.Context, url string) error {
	s, err := db.Open(ctx, db.Options{URL: url})
	if err != nil {
		return err
	}
	if _, err := s.Migrate(ctx); err != nil {
		_ = s.Close()
		return err
	}
	return s.Close()
}
