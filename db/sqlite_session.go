package db

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// sqliteSession is a transaction on SQLite. It holds its connection itself: one
// that could not be rolled back must never serve another.
type sqliteSession struct {
	*sql.Tx
	conn  *sql.Conn
	stmts *stmtCache
}

func (d *sqlite) session(ctx context.Context, p *pool, kind txKind) (txSession, error) {
	if kind != readOnly {
		return d.group.join(ctx, p, kind == alone)
	}
	return beginSQLite(ctx, p, kind)
}

func beginSQLite(ctx context.Context, p *pool, kind txKind) (*sqliteSession, error) {
	if err := p.stmts.prepare(ctx, p.DB.DB); err != nil {
		return nil, err
	}
	c, err := p.DB.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// Without the caller's end: database/sql would roll back on its own, at
	// any moment, and the writer is not to stop in the middle of a commit.
	t, err := c.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{ReadOnly: kind == readOnly})
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
	prepared := s.stmts.get(st.sql) //nolint:sqlclosecheck // the cache closes it
	if prepared != nil {
		prepared = s.StmtContext(ctx, prepared) //nolint:sqlclosecheck // the transaction closes it
	}
	if st.each == nil {
		return s.exec(ctx, prepared, st)
	}
	var rows *sql.Rows
	var err error
	if prepared != nil {
		rows, err = prepared.QueryContext(ctx, st.args...)
	} else {
		rows, err = s.QueryContext(ctx, st.sql, st.args...)
	}
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	n := int64(0)
	for rows.Next() {
		if err := st.each(rows.Scan); err != nil {
			return err
		}
		n++
	}
	return errors.Join(rows.Err(), st.check(n))
}

func (s *sqliteSession) exec(ctx context.Context, prepared *sql.Stmt, st stmt) (err error) {
	var res sql.Result
	if prepared != nil {
		res, err = prepared.ExecContext(ctx, st.args...)
	} else {
		res, err = s.ExecContext(ctx, st.sql, st.args...)
	}
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
	if err == nil || errors.Is(err, sql.ErrTxDone) {
		return s.conn.Close()
	}
	// A full disk or an I/O error has ended the transaction already. Whether
	// that was it cannot be told: a new connection is certainly in none.
	_ = s.conn.Raw(func(any) error { return sqldriver.ErrBadConn })
	return fmt.Errorf("roll back: %w", err)
}
