package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"gatehouse/domain/plan"
)

// How long a lease that another process holds is left alone before it is tried
// again: a random time up to the first, which doubles up to the second.
const (
	firstLeaseWait = 10 * time.Millisecond
	maxLeaseWait   = 100 * time.Millisecond
)

// How taking and giving back a lease is told to a probe, on both databases.
const (
	leaseSQL   = "LEASE"
	unleaseSQL = "END LEASE"
)

// errLeased is a lease asked for by who holds one. The two could be waited for in a
// circle, so it is refused: a defect of the caller, no failure of the domain.
var errLeased = errors.New("a lease is held already: a hook may not write to plans and comments, nor admit")

// leaseConn is a connection that holds a lease against other processes. The lock is
// one of the database's session: it ends with the connection at the latest.
type leaseConn interface {
	// session prepares a transaction on the connection, once no other runs there.
	session(ctx context.Context, kind txKind) (txSession, error)

	// unlock ends the lock. An error means that it may be held still.
	unlock(ctx context.Context) error

	// leave gives the connection back, or throws it away when it may hold the
	// lock. It is the last call.
	leave(unlocked bool)
}

// lease is what the context of a holder carries.
type lease struct {
	store *Store
	conn  leaseConn // nil: there is none, or a transaction runs on it already
}

type leaseKey struct{}

var _ plan.Lease = (*Store)(nil)

// WithLease implements plan.Lease. Within a process the leases of a task are given
// in the order of arrival. Against other processes a lock on a connection of its own
// holds it, and the transactions and reads of fn run on that connection: they never
// wait for the pool that leases occupy. Whoever waits holds none. When the
// connection is lost, so is the lease, and what fn still asks of the database fails
// with [domain.ErrUnavailable].
//
// A lease takes no row lock, and is taken before every one of them. fn must not ask
// for another.
func (s *Store) WithLease(ctx context.Context, taskID string, fn func(ctx context.Context) error) error {
	if s.leaseOf(ctx) != nil {
		return errLeased
	}
	unlock, err := s.leases.lock(ctx, taskID)
	if err != nil {
		return err
	}
	defer unlock()
	conn, err := s.takeLease(ctx, taskID)
	if err != nil {
		return err
	}
	if conn != nil {
		defer s.endLease(ctx, conn)
	}
	return fn(context.WithValue(ctx, leaseKey{}, &lease{s, conn}))
}

// leaseOf is the lease of this store that ctx holds, nil for none.
func (s *Store) leaseOf(ctx context.Context) *lease {
	if l, ok := ctx.Value(leaseKey{}).(*lease); ok && l.store == s {
		return l
	}
	return nil
}

// leased is the connection of the lease that ctx holds, nil when it holds none or
// the lease needs no connection.
func (s *Store) leased(ctx context.Context) leaseConn {
	if l := s.leaseOf(ctx); l != nil {
		return l.conn
	}
	return nil
}

// inUse is ctx for those who run in a transaction on the connection of its lease:
// what they begin beside it would wait for its end.
func (s *Store) inUse(ctx context.Context) context.Context {
	if s.leased(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, leaseKey{}, &lease{s, nil})
}

// takeLease waits until no other process holds the lease of a task. The connection
// is nil where there can be no other.
func (s *Store) takeLease(ctx context.Context, taskID string) (leaseConn, error) {
	for wait := firstLeaseWait; ; wait = min(2*wait, maxLeaseWait) {
		conn, taken, err := s.tryLease(ctx, taskID)
		if err != nil || taken {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(rand.N(wait)):
		}
	}
}

func (s *Store) tryLease(ctx context.Context, taskID string) (conn leaseConn, taken bool, err error) {
	err = s.retry(ctx, func() (bool, error) {
		err := s.around(func() (err error) {
			conn, taken, err = s.dialect.lease(ctx, s.writer, taskID)
			return err
		}, stmt{sql: leaseSQL})
		if err != nil && conn != nil {
			conn.leave(false)
		}
		return s.again(ctx, err, false), err
	})
	return conn, taken, err
}

// endLease gives the lease back, also when its caller is gone. A connection that was
// lost has ended its lock; one whose answer is not certain must not serve another.
func (s *Store) endLease(ctx context.Context, conn leaseConn) {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	err := s.around(func() error { return conn.unlock(end) }, stmt{sql: unleaseSQL})
	if err != nil && !s.dialect.lost(err) {
		s.log.WarnContext(ctx, "connection of a lease discarded", "error", err)
	}
	conn.leave(err == nil)
}
