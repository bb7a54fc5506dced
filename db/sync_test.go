package db_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/access"
)

// OP-5: what was committed without waiting for the disk is in the file behind Sync,
// also when nobody closes the store.
func TestSync(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		t.Helper()
		url := newURL(t)
		s := dbtest.Open(t, db.Options{URL: url, SQLiteSynchronous: db.SynchronousNormal})
		if _, err := access.NewService(s.Access(), domain.SystemClock).Bootstrap(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := s.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if path, ok := strings.CutPrefix(url, "sqlite:"); ok { // the file alone, without its log
			url = "sqlite:" + copyFile(t, path)
		}
		other := dbtest.Open(t, db.Options{URL: url})
		if _, err := access.NewService(other.Access(), domain.SystemClock).WorkspaceNamed(t.Context(), access.DefaultWorkspace); err != nil {
			t.Error(err)
		}
	})
}

func copyFile(t *testing.T, path string) string {
	t.Helper()
	from, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.Create(filepath.Join(t.TempDir(), "copy.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}
