package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	sqldriver "database/sql/driver"
	"encoding/binary"
	"errors"
)

// A lock of the session, not of a transaction: the hook runs outside of any. It is
// tried, never waited for: a waiter would hold a connection.
const (
	tryLockSQL = "SELECT pg_try_advisory_lock($1)"
	unlockSQL  = "SELECT pg_advisory_unlock($1)"
)

// lockKey is the number that the lease of a task is locked by. Two tasks that share
// one only wait for each other; so would any other user of advisory locks.
func lockKey(taskID string) int64 {
	sum := sha256.Sum256([]byte("gatehouse task lease " + taskID))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits will do
}

// postgresLease is a connection that holds the advisory lock of a task.
type postgresLease struct {
	conn  *sql.Conn
	key   int64
	slots chan struct{} // has one of ours in it
	busy  chan struct{} // full while a transaction runs on conn
}

// lease tries the advisory lock on a connection of its own. There are fewer slots
// for leases than connections, so that one is always there for who needs no lease:
// other requests, and a hook that calls back.
func (d postgres) lease(ctx context.Context, p *pool, taskID string) (leaseConn, bool, error) {
	select {
	case d.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	c, err := p.DB.DB.Conn(ctx)
	if err != nil {
		<-d.slots
		return nil, false, err
	}
	l := &postgresLease{conn: c, key: lockKey(taskID), slots: d.slots, busy: make(chan struct{}, 1)}
	var locked bool
	err = c.QueryRowContext(ctx, tryLockSQL, l.key).Scan(&locked)
	if err != nil || !locked {
		l.leave(err == nil)
		return nil, false, err
	}
	return l, true, nil
}

func (l *postgresLease) session(ctx context.Context, kind txKind) (txSession, error) {
	if err := l.use(ctx); err != nil {
		return nil, err
	}
	return &leasedSession{newPostgresSession(l.conn, kind), l}, nil
}

// use waits until nobody uses the connection. Who has used it empties busy.
func (l *postgresLease) use(ctx context.Context) error {
	select {
	case l.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *postgresLease) unlock(ctx context.Context) error {
	if err := l.use(ctx); err != nil {
		return err
	}
	defer func() { <-l.busy }()
	var held bool
	err := l.conn.QueryRowContext(ctx, unlockSQL, l.key).Scan(&held)
	if err == nil && !held {
		err = errors.New("the lock of the lease was not held")
	}
	return err
}

func (l *postgresLease) leave(unlocked bool) {
	if !unlocked {
		_ = l.conn.Raw(func(any) error { return sqldriver.ErrBadConn })
	}
	_ = l.conn.Close() // says only that it was closed before
	<-l.slots
}

// leasedSession is a transaction on the connection of a lease, which it leaves to
// the next.
type leasedSession struct {
	*postgresSession
	lease *postgresLease
}

func (s *leasedSession) rollback(ctx context.Context) error {
	defer func() { <-s.lease.busy }()
	return s.undo(ctx)
}
