package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
)

// Files are named YYYYMMDDhhmmss_what.sql and begin with -- +goose Up. Released
// ones are never edited (OP-4).
//
//go:embed migrations/*/*.sql
var embeddedMigrations embed.FS

// versionTable is goose's own: a row for every migration that ran.
const versionTable = "goose_db_version"

// ErrSchemaNewer is the refusal of a database that a newer binary has migrated
// (OP-4). Nothing in it was changed.
var ErrSchemaNewer = errors.New("the schema of the database is newer than this program: run the newer version")

// ErrSchemaOlder is the refusal of a database that lacks migrations.
var ErrSchemaOlder = errors.New("the schema of the database is older than this program: run gatehouse migrate up")

// Migration is one step of the schema, and whether it ran.
type Migration struct {
	Version   int64 // YYYYMMDDhhmmss
	Name      string
	AppliedAt time.Time // zero when it is pending
}

// migrationFiles is the folder of embedded migrations for d.
func migrationFiles(d dialect) fs.FS {
	files, err := fs.Sub(embeddedMigrations, "migrations/"+d.name())
	if err != nil {
		panic(err) // the name is a constant that is a valid path
	}
	return files
}

// Migrate runs every pending migration, each in one transaction with the mark
// that it ran, so that it can be killed at any point and run again. Processes
// that start at once take turns. It refuses a newer schema with [ErrSchemaNewer]
// and returns the migrations that it ran (OP-4).
func (s *Store) Migrate(ctx context.Context) ([]Migration, error) {
	ran, err := s.migrate(ctx)
	if err != nil {
		return ran, fmt.Errorf("migrate: %w", s.classify(ctx, err))
	}
	return ran, nil
}

func (s *Store) migrate(ctx context.Context) ([]Migration, error) {
	m, err := s.dialect.migrator(s.writer, s.migrations)
	if err != nil {
		return nil, err
	}
	// Read only, before anything takes a lock or writes a table of its own.
	version, err := s.SchemaVersion(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(version, newest(m)); !errors.Is(err, ErrSchemaOlder) {
		return nil, err
	}
	results, err := m.Up(ctx)
	if partial, ok := errors.AsType[*goose.PartialError](err); ok {
		results = partial.Applied
	}
	ran := make([]Migration, len(results))
	for i, r := range results {
		ran[i] = Migration{Version: r.Source.Version, Name: r.Source.Path}
	}
	if err != nil {
		return ran, err
	}
	// Another process may have come first, and know more.
	if version, err = s.SchemaVersion(ctx); err != nil {
		return ran, err
	}
	return ran, checkVersion(version, newest(m))
}

// checkVersion compares the schema with what this program knows.
func checkVersion(version, target int64) error {
	switch {
	case version > target:
		return fmt.Errorf("%w (%d, it knows %d)", ErrSchemaNewer, version, target)
	case version < target:
		return fmt.Errorf("%w (%d, it takes %d)", ErrSchemaOlder, version, target)
	}
	return nil
}

// Migrations are all that this program knows, oldest first. It changes nothing.
func (s *Store) Migrations(ctx context.Context) ([]Migration, error) {
	m, err := s.dialect.migrator(s.writer, s.migrations)
	if err != nil {
		return nil, err
	}
	applied, err := s.applied(ctx)
	if err != nil {
		return nil, err
	}
	sources := m.ListSources()
	all := make([]Migration, len(sources))
	for i, src := range sources {
		all[i] = Migration{Version: src.Version, Name: src.Path, AppliedAt: applied[src.Version]}
	}
	return all, nil
}

// SchemaVersion is the newest migration the database has seen, zero for none.
func (s *Store) SchemaVersion(ctx context.Context) (int64, error) {
	applied, err := s.applied(ctx)
	newest := int64(0)
	for version := range applied {
		newest = max(newest, version)
	}
	return newest, err
}

// TargetVersion is the newest migration this program knows.
func (s *Store) TargetVersion() (int64, error) {
	m, err := s.dialect.migrator(s.writer, s.migrations)
	if err != nil {
		return 0, err
	}
	return newest(m), nil
}

// applied is when each migration ran. It does not need the table of goose.
func (s *Store) applied(ctx context.Context) (map[int64]time.Time, error) {
	exists, err := s.dialect.hasTable(ctx, s.reader, versionTable)
	if err != nil || !exists {
		return nil, s.classify(ctx, err)
	}
	var rows []struct {
		VersionID int64
		Tstamp    time.Time
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		return q.NewSelect().Table(versionTable).Column("version_id", "tstamp").
			Where("is_applied AND version_id > 0").Scan(ctx, &rows)
	})
	applied := make(map[int64]time.Time, len(rows))
	for _, r := range rows {
		applied[r.VersionID] = r.Tstamp.UTC()
	}
	return applied, err
}

func newest(m *goose.Provider) int64 {
	sources := m.ListSources()
	return sources[len(sources)-1].Version
}

func newMigrator(d goose.Dialect, p *pool, files fs.FS, lock goose.ProviderOption) (*goose.Provider, error) {
	return goose.NewProvider(d, p.DB.DB, files, lock, goose.WithDisableGlobalRegistry(true))
}

// PostgresMigrations are the embedded migrations of PostgreSQL. dbtest names its
// templates after them.
func PostgresMigrations() fs.FS { return migrationFiles(postgres{}) }
