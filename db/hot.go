package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A hot path is written as load → decide → store:
//
//	err := t.batch(ctx, lockTask, loadComments)     // one round trip, with BEGIN
//	… decide on the values the callbacks kept …
//	return t.commitWith(ctx, insertDelivery, …)     // one round trip, with COMMIT
//
// Statements are prepared once for each connection. bun writes arguments into the
// text instead, which costs half of the throughput; both work in one transaction.

// stmt is a statement with its arguments. Its text is constant, one for both
// databases but for what the dialect adds, with $1, $2, … for the arguments.
type stmt struct {
	sql  string
	args []any

	// each is called for every row, with the Scan of that row. Times are read
	// with scanTime. By errEnough it leaves the rows behind this one unread. Nil
	// for a statement that returns none.
	each func(scan func(dest ...any) error) error

	// affects is how many rows the statement must change, else the
	// transaction fails with errAffected. Zero: however many.
	affects int64

	// counted is added the number of rows that a statement without rows changed.
	counted *int64
}

// ignored is for the rows of a query that is made for what it does.
func ignored(func(dest ...any) error) error { return nil }

// errAffected is a write that did not meet the rows it was made for. Under the
// lock of the task that is a defect, so it is no failure of the domain.
var errAffected = errors.New("statement changed another number of rows than it must")

// errEnough is how a statement is left whose further rows nobody needs. It is no
// failure.
var errEnough = errors.New("no more rows are needed")

// eachRow hands on the rows of a statement, until it has enough.
func (st stmt) eachRow(rows interface {
	Next() bool
	Scan(dest ...any) error
},
) (n int64, err error) {
	for rows.Next() {
		switch err := st.each(rows.Scan); {
		case errors.Is(err, errEnough):
			return n, nil
		case err != nil:
			return n, err
		}
		n++
	}
	return n, nil
}

// exec is a statement that returns no rows.
func exec(sql string, args ...any) stmt { return stmt{sql: sql, args: args} }

// query is a statement that calls each for every row it returns.
func query(each func(scan func(dest ...any) error) error, sql string, args ...any) stmt {
	return stmt{sql: sql, args: args, each: each}
}

// batch runs the statements in order. Nothing of a failed batch is used: the
// transaction has to be given up.
func (t *tx) batch(ctx context.Context, stmts ...stmt) error {
	return t.session.batch(ctx, stmts, false)
}

// commitWith runs the statements and commits in the same round trip where there
// is one. It is the last thing a transaction does: return its error. Once the
// commit is sent, a caller who leaves does not stop it.
func (t *tx) commitWith(ctx context.Context, stmts ...stmt) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	t.ending = true
	var err error
	if len(stmts) == 0 {
		err = t.session.commit(end)
	} else {
		err = t.session.batch(end, stmts, true)
	}
	t.ended = err == nil
	return err
}

// probedSession is a session whose statements pass the probe.
type probedSession struct {
	txSession
	store *Store
}

func (s probedSession) batch(ctx context.Context, stmts []stmt, last bool) error {
	if s.store.probe.Load() == nil {
		return s.txSession.batch(ctx, stmts, last)
	}
	told := stmts
	if last {
		told = append(slices.Clone(stmts), stmt{sql: commitSQL})
	}
	return s.store.around(func() error { return s.txSession.batch(ctx, stmts, last) }, told...)
}

func (s probedSession) commit(ctx context.Context) error {
	return s.store.around(func() error { return s.txSession.commit(ctx) }, stmt{sql: commitSQL})
}

// commitSQL is how the end of a transaction is told to a probe.
const commitSQL = "COMMIT"

// check fails when the statement changed another number of rows than it must.
func (st stmt) check(n int64) error {
	if st.affects != 0 && n != st.affects {
		return fmt.Errorf("%w: %d instead of %d", errAffected, n, st.affects)
	}
	return nil
}
