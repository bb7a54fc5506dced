package db

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"gatehouse/domain"
)

// How often and for how long a transaction is run again, and how long the end
// of one may take once nobody waits for it any more.
const (
	maxAttempts = 5
	retryFor    = 10 * time.Second
	endTimeout  = 10 * time.Second
)

// errDone is the answer to a statement after the end of its transaction.
var errDone = errors.New("the transaction has ended")

// txKind is what a transaction may do.
type txKind int

const (
	readWrite txKind = iota
	alone            // readWrite that shares its commit with nobody
	readOnly         // one consistent state for all its statements
)

// session is a transaction on a connection of its own. Its dialect decides when
// BEGIN is sent, but no statement runs outside of the transaction.
type txSession interface {
	conn

	// batch runs the statements in order, in as few round trips as the
	// database allows, and with last commits in the same one.
	batch(ctx context.Context, stmts []stmt, last bool) error

	// commit ends the transaction. After an error it has to be rolled back.
	commit(ctx context.Context) error

	// rollback undoes what was not committed and gives the connection back.
	// It must be called, last, also after a commit. errShared means that what
	// the transaction has read of others is undone as well.
	rollback(ctx context.Context) error
}

// tx is a transaction as the stores see it: queries of bun with the methods of
// [querier], and prepared statements with [tx.batch] and [tx.commitWith].
type tx struct {
	querier
	session txSession
	dialect dialect
	ending  bool // a commit was sent: its outcome may be unknown
	ended   bool // it is known, and good
}

// inTx runs fn in a transaction that may write: READ COMMITTED by name on
// PostgreSQL, so that what follows the wait for a lock sees what was committed
// meanwhile; immediate on SQLite. It commits when fn returns nil.
//
// taskID is the task whose data fn writes, "" when it is none or many. Work of
// one task runs one at a time in a process, in the order of arrival and without
// a connection while it waits, so that a busy task never occupies the pool, and
// on SQLite until its commit, which tasks share ([group]), is on the disk. The
// task's row is locked all the same: other processes do not see this lock.
//
// fn may run again, when the dialect says that it may help: it changes nothing
// but its result, and sets that from the start each time. It must not call inTx.
// An error that is the database's comes back as a failure of the domain.
func (s *Store) inTx(ctx context.Context, taskID string, fn func(context.Context, *tx) error) error {
	unlock, err := s.tasks.lock(ctx, taskID)
	if err != nil {
		return err
	}
	defer unlock()
	kind := readWrite
	return s.retry(ctx, func() (bool, error) {
		again, err := s.once(ctx, s.writer, kind, fn)
		if errors.Is(err, errShared) {
			kind = alone
		}
		return again, err
	})
}

// inRead runs fn on one consistent state of the database: REPEATABLE READ READ
// ONLY on PostgreSQL, a read transaction on SQLite. It waits for no writer. Keep
// clients' I/O out of fn: it holds a connection (OP-5).
func (s *Store) inRead(ctx context.Context, fn func(context.Context, *tx) error) error {
	return s.retry(ctx, func() (bool, error) { return s.once(ctx, s.reader, readOnly, fn) })
}

// read runs the single statement of fn outside of any transaction.
func (s *Store) read(ctx context.Context, fn func(context.Context, querier) error) error {
	if s.leased(ctx) != nil { // its connection is used by one transaction at a time
		return s.inRead(ctx, func(ctx context.Context, t *tx) error { return fn(ctx, t.querier) })
	}
	return s.classify(ctx, fn(ctx, querier{s.reader.DB, probed{s.reader.DB.DB, s}}))
}

// readPrepared runs one statement, prepared, outside of any transaction.
func (s *Store) readPrepared(ctx context.Context, st stmt) error {
	if s.leased(ctx) != nil {
		return s.inRead(ctx, func(ctx context.Context, t *tx) error { return t.batch(ctx, st) })
	}
	return s.classify(ctx, s.around(func() error { return s.reader.run(ctx, st) }, st))
}

// retry calls attempt until it succeeds, or says that trying again is no use.
func (s *Store) retry(ctx context.Context, attempt func() (again bool, err error)) error {
	started := time.Now()
	for n := 1; ; n++ {
		again, err := attempt()
		if err == nil || !again || n == maxAttempts || time.Since(started) > retryFor {
			return s.classify(ctx, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(rand.N(5 * time.Millisecond << n)):
		}
	}
}

// once runs fn in one transaction, and tells whether it may run again.
func (s *Store) once(ctx context.Context, p *pool, kind txKind, fn func(context.Context, *tx) error) (again bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, context.Cause(ctx)
	}
	ses, err := s.session(ctx, p, kind)
	if err != nil {
		return s.again(ctx, err, false), err
	}
	t := &tx{querier: querier{p.DB, probed{ses, s}}, session: probedSession{ses, s}, dialect: s.dialect}
	defer func() {
		if undone := s.end(ctx, ses); undone != nil {
			again, err = s.again(ctx, undone, false), undone
		}
	}()
	if err = fn(s.inUse(ctx), t); err == nil && !t.ended {
		err = t.commitWith(ctx)
	}
	return s.again(ctx, err, t.ending), err
}

// end undoes what was not committed: the caller may be gone. An error says that the
// answer of the transaction rests on what is undone as well.
func (s *Store) end(ctx context.Context, ses txSession) error {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	err := ses.rollback(end)
	if err == nil || errors.Is(err, errShared) {
		return err
	}
	s.log.WarnContext(ctx, "connection discarded", "error", err)
	return nil
}

// session prepares a transaction on the connection of the lease that ctx holds,
// else on one of p.
func (s *Store) session(ctx context.Context, p *pool, kind txKind) (txSession, error) {
	if c := s.leased(ctx); c != nil {
		return c.session(ctx, kind)
	}
	return s.dialect.session(ctx, p, kind)
}

// again reports whether a transaction that failed with err can be run again. With
// the connection of a lease the lease is lost: nobody runs on without it.
func (s *Store) again(ctx context.Context, err error, ending bool) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	return s.dialect.retryable(err) || s.dialect.lost(err) && !ending && s.leased(ctx) == nil
}

// classify is what the caller is told of err: once, here. An end of the caller's
// own context is told as that.
func (s *Store) classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*domain.Error](err); ok {
		return err
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return errors.Join(context.Cause(ctx), err)
	}
	return s.dialect.classify(err)
}

// now is the time by the clock that judges leases and expiries (OP-3).
func (t *tx) now(ctx context.Context) (time.Time, error) { return clock(ctx, t.querier, t.dialect) }

func clock(ctx context.Context, q querier, d dialect) (time.Time, error) {
	var now time.Time
	err := q.NewSelect().ColumnExpr("?", d.now()).Scan(ctx, &now)
	return now.UTC(), err
}
