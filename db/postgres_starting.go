package db

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

func (postgres) migrator(p *pool, files fs.FS) (*goose.Provider, error) {
	locker, err := newSessionLocker()
	if err != nil {
		return nil, err
	}
	return newMigrator(goose.DialectPostgres, p, files, goose.WithSessionLocker(locker))
}

// guarded takes the lock of a migration: goose takes it for the migrations themselves.
// A connection that may still hold it is given to nobody else.
func (postgres) guarded(ctx context.Context, p *pool, do func(ctx context.Context) error) (err error) {
	lock, err := newSessionLocker()
	if err != nil {
		return err
	}
	c, err := p.DB.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	discard := func(why error) error {
		_ = c.Raw(func(any) error { return sqldriver.ErrBadConn })
		return why
	}
	if err := lock.SessionLock(ctx, c); err != nil {
		return discard(fmt.Errorf("wait for another process that migrates: %w", err))
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if uerr := lock.SessionUnlock(end, c); uerr != nil {
			err = errors.Join(err, discard(fmt.Errorf("unlock: %w", uerr)))
		}
	}()
	return do(ctx)
}

func (postgres) unhurried(ctx context.Context, t *tx) error {
	_, err := t.NewRaw("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0").Exec(ctx)
	return err
}
