package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3/lock"
)

// lockWait is how long a process waits while another migrates.
const lockWait = 5 * time.Minute

// fileLocker guards a migration of SQLite with a lock on a file beside the
// database. The system releases it when the process dies.
type fileLocker struct{ file *flock.Flock }

func newFileLocker(path string) fileLocker { return fileLocker{flock.New(path)} }

// Lock implements lock.Locker.
func (l fileLocker) Lock(ctx context.Context, _ *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if _, err := l.file.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return fmt.Errorf("wait for another process that migrates: %w", err)
	}
	return nil
}

// Unlock implements lock.Locker. The file stays: to remove it would let two
// processes hold locks on two files of one name.
func (l fileLocker) Unlock(context.Context, *sql.DB) error { return l.file.Unlock() }

// sessionLocker guards a migration of PostgreSQL with an advisory lock, and lifts
// the time-outs that are meant for requests.
type sessionLocker struct{ lock.SessionLocker }

func newSessionLocker() (sessionLocker, error) {
	l, err := lock.NewPostgresSessionLocker(
		lock.WithLockTimeout(1, uint64(lockWait/time.Second)), lock.WithUnlockTimeout(1, 5))
	return sessionLocker{l}, err
}

// SessionLock implements lock.SessionLocker.
func (l sessionLocker) SessionLock(ctx context.Context, c *sql.Conn) error {
	if _, err := c.ExecContext(ctx, "SET statement_timeout = 0; SET lock_timeout = 0"); err != nil {
		return err
	}
	return l.SessionLocker.SessionLock(ctx, c)
}

// SessionUnlock implements lock.SessionLocker.
func (l sessionLocker) SessionUnlock(ctx context.Context, c *sql.Conn) error {
	err := l.SessionLocker.SessionUnlock(ctx, c)
	_, rerr := c.ExecContext(ctx, "RESET statement_timeout; RESET lock_timeout")
	return errors.Join(err, rerr)
}
