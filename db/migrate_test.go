package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/fstest"

	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func file(content string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("-- +goose Up\n" + content)}
}

// later are migrations that follow the embedded ones, which the database has.
func later(extra ...string) fstest.MapFS {
	files := fstest.MapFS{
		"20261201000000_init.sql": file("CREATE TABLE never_run (id text);"),
		"20990101000000_more.sql": file("CREATE TABLE more (id text PRIMARY KEY);\nINSERT INTO more VALUES ('once');"),
	}
	for _, content := range extra {
		files["20990102000000_extra.sql"] = file(content)
	}
	return files
}

// Several processes that start at once take turns: each migration runs once (OP-4).
func TestMigrateGuardsAgainstOtherProcesses(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		var group sync.WaitGroup
		var mu sync.Mutex
		ran := 0
		for range 4 {
			group.Go(func() {
				s, err := db.Open(context.WithoutCancel(t.Context()), db.Options{URL: url, MaxConnections: 2})
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				s.SetMigrations(later())
				migrations, err := s.Migrate(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				ran += len(migrations)
				mu.Unlock()
			})
		}
		group.Wait()
		if ran != 1 {
			t.Errorf("%d processes ran the migration, want 1", ran)
		}
	})
}

// A migration that fails leaves nothing, and the next start runs it (OP-4).
func TestMigrateResumes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		s := open(t)
		s.SetMigrations(later("CREATE TABLE extra (id text);\nINSERT INTO missing VALUES (1);"))
		ran, err := s.Migrate(t.Context())
		if err == nil || len(ran) != 1 {
			t.Fatalf("ran %v, error %v, want one and an error", ran, err)
		}
		if v, err := s.SchemaVersion(t.Context()); v != 20990101000000 || err != nil {
			t.Errorf("version = %d (%v)", v, err)
		}
		if err := s.Ready(t.Context()); !errors.Is(err, db.ErrSchemaOlder) {
			t.Errorf("ready = %v, want %v", err, db.ErrSchemaOlder)
		}
		s.SetMigrations(later("CREATE TABLE extra (id text);"))
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		all, err := s.Migrations(t.Context())
		if err != nil || len(all) != 3 || all[2].AppliedAt.IsZero() {
			t.Errorf("migrations = %v (%v)", all, err)
		}
	})
}

// A schema newer than the program is refused, untouched (OP-4).
func TestMigrateRefusesANewerSchema(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		s := dbtest.Open(t, db.Options{URL: url})
		s.SetMigrations(later())
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		older := dbtest.Open(t, db.Options{URL: url})
		if _, err := older.Migrate(t.Context()); !errors.Is(err, db.ErrSchemaNewer) {
			t.Errorf("migrate = %v, want %v", err, db.ErrSchemaNewer)
		}
		if err := older.Ready(t.Context()); !errors.Is(err, db.ErrSchemaNewer) {
			t.Errorf("ready = %v, want %v", err, db.ErrSchemaNewer)
		}
	})
}
