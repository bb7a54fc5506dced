package db_test

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// filesIn are the files of a folder, by what they hold.
func filesIn(t *testing.T, folder string) map[string][32]byte {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][32]byte{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = sha256.Sum256(content)
	}
	return files
}

// look reads how many tasks there are, without changing a file of the folder but those
// named.
func look(t *testing.T, folder, file string, but ...string) int {
	t.Helper()
	before := filesIn(t, folder)
	s, err := db.Open(t.Context(), db.Options{URL: "sqlite:" + filepath.Join(folder, file), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var tasks int
	err = s.InRead(t.Context(), func(ctx context.Context, tx *db.Tx) error {
		return tx.NewRaw("SELECT COUNT(*) FROM tasks").Scan(ctx, &tasks)
	})
	if err != nil {
		t.Error(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	after := filesIn(t, folder)
	for _, name := range but { // of which a server in this process shows every reader its own
		delete(before, name)
		delete(after, name)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("files changed (-before +after):\n%s", diff)
	}
	return tasks
}

// OP-7: a database is looked at without a trace, whether nobody has it open, a server
// has, or one had when it died; and what the log holds is seen.
func TestReadOnlySQLite(t *testing.T) {
	folder := t.TempDir()
	s := dbtest.Open(t, db.Options{URL: "sqlite:" + filepath.Join(folder, "gatehouse.db")})
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	newContextScene(t, s)
	if got := look(t, folder, "gatehouse.db", "gatehouse.db-shm"); got != 1 {
		t.Errorf("beside a server: %d tasks", got)
	}
	crashed := t.TempDir()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(filepath.Join(folder, "gatehouse.db"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(crashed, "gatehouse.db"+suffix), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := look(t, crashed, "gatehouse.db"); got != 1 {
		t.Errorf("after a crash: %d tasks", got)
	}
	closed := t.TempDir()
	again := filepath.Join(closed, "again.db")
	other, err := db.Open(t.Context(), db.Options{URL: "sqlite:" + again})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	newContextScene(t, other)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if got := look(t, closed, "again.db"); got != 1 {
		t.Errorf("closed: %d tasks", got)
	}
}

// OP-7: looking makes no database, and changes none on either.
func TestReadOnlyWritesNothing(t *testing.T) {
	folder := t.TempDir()
	if s, err := db.Open(t.Context(), db.Options{URL: "sqlite:" + filepath.Join(folder, "none.db"), ReadOnly: true}); err == nil {
		_ = s.Close()
		t.Error("a database that is not there was opened")
	}
	if got := filesIn(t, folder); len(got) > 0 {
		t.Errorf("made %v", got)
	}
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		s := dbtest.Open(t, db.Options{URL: newURL(t), ReadOnly: true})
		err := s.Read(t.Context(), func(ctx context.Context, q db.Querier) error {
			_, err := q.NewRaw("INSERT INTO gatehouse_meta (key, value) VALUES ('k', 'v')").Exec(ctx)
			return err
		})
		if err == nil {
			t.Error("a row was written")
		}
	})
}
