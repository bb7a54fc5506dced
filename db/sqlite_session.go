package db

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strconv"
)

// sqliteSession is a transaction that reads.
type sqliteSession struct {
	*sql.Tx
	conn  *sql.Conn
	stmts *stmtCache
}

func (d *sqlite) session(ctx context.Context, p *pool, kind txKind) (txSession, error) {
	if kind != readOnly {
		return d.group.join(ctx, p, kind == alone)
	}
	if err := p.stmts.prepare(ctx, p.DB.DB); err != nil {
		return nil, err
	}
	c, err := p.DB.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// Without the caller's end: database/sql would roll back on its own, at
	// any moment.
	t, err := c.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &sqliteSession{t, c, &p.stmts}, nil
}

var argumentName = regexp.MustCompile(`\$[0-9]+`)

// unnamed is a text with ? for its arguments $1, $2, … where they stand in that order,
// each once. To SQLite $1 is a name, which the driver looks up among all those before
// it, for every argument of every call: a fifth of the time of a bulk of twenty rows.
func unnamed(query string) string {
	n, inOrder := 0, true
	text := argumentName.ReplaceAllStringFunc(query, func(name string) string {
		n++
		inOrder = inOrder && name == "$"+strconv.Itoa(n)
		return "?"
	})
	if !inOrder {
		return query
	}
	return text
}

// lease has nothing to do: one process serves a file, and its mutex is enough.
func (*sqlite) lease(context.Context, *pool, string) (leaseConn, bool, error) { return nil, true, nil }

func (s *sqliteSession) batch(ctx context.Context, stmts []stmt, last bool) error {
	for _, st := range stmts {
		if err := s.run(ctx, st); err != nil {
			return err
		}
	}
	if last {
		return s.commit(ctx)
	}
	return nil
}

func (s *sqliteSession) run(ctx context.Context, st stmt) error {
	prepared := s.stmts.get(st.sql)
	if prepared == nil {
		return runSQLite(ctx, unprepared{s.Tx, st.sql}, st)
	}
	return runSQLite(ctx, s.StmtContext(ctx, prepared), st)
}

// runnable is a statement without its arguments, such as a prepared one.
type runnable interface {
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
}

// unprepared is a text that the next transaction will find prepared.
type unprepared struct {
	tx  *sql.Tx
	sql string
}

func (u unprepared) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return u.tx.QueryContext(ctx, u.sql, args...)
}

func (u unprepared) ExecContext(ctx context.Context, args ...any) (sql.Result, error) {
	return u.tx.ExecContext(ctx, u.sql, args...)
}

// runSQLite runs st, whose text is that of r.
func runSQLite(ctx context.Context, r runnable, st stmt) error {
	if st.each == nil {
		return execSQLite(ctx, r, st)
	}
	rows, err := r.QueryContext(ctx, st.args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	n, err := st.eachRow(rows)
	if err != nil {
		return err
	}
	return errors.Join(rows.Err(), st.check(n))
}

func execSQLite(ctx context.Context, r runnable, st stmt) error {
	res, err := r.ExecContext(ctx, st.args...)
	if err != nil || st.affects == 0 && st.counted == nil {
		return err
	}
	n, err := res.RowsAffected()
	if st.counted != nil {
		*st.counted += n
	}
	return errors.Join(err, st.check(n))
}

func (s *sqliteSession) commit(context.Context) error { return s.Commit() }

func (s *sqliteSession) rollback(context.Context) error {
	err := s.Rollback()
	if errors.Is(err, sql.ErrTxDone) {
		err = nil
	}
	return errors.Join(err, s.conn.Close())
}
