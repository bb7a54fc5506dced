package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

func (d *sqlite) migrator(p *pool, files fs.FS) (*goose.Provider, error) {
	return newMigrator(goose.DialectSQLite3, p, files, goose.WithLocker(d.migrationLock()))
}

// guarded takes the lock of a migration: goose takes it for the migrations themselves.
func (d *sqlite) guarded(ctx context.Context, p *pool, do func(ctx context.Context) error) (err error) {
	lock := d.migrationLock()
	if err := lock.Lock(ctx, p.DB.DB); err != nil {
		return err
	}
	defer func() {
		if uerr := lock.Unlock(ctx, p.DB.DB); uerr != nil {
			err = errors.Join(err, fmt.Errorf("unlock: %w", uerr))
		}
	}()
	return do(ctx)
}

func (d *sqlite) migrationLock() fileLocker { return newFileLocker(d.path + "-migrate.lock") }

// unhurried has nothing to do: SQLite has no such time-outs.
func (*sqlite) unhurried(context.Context, *tx) error { return nil }
