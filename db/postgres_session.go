package db

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// errLost is an error that came with the end of the connection.
var errLost = errors.New("connection lost")

const (
	beginReadWrite = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	beginReadOnly  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
)

// postgresSession is a transaction on PostgreSQL. Its BEGIN travels with the first
// statements and its COMMIT with the last, which database/sql's own transactions
// cannot do.
type postgresSession struct {
	conn  *sql.Conn
	begin string
	begun bool
	ended bool
}

func (postgres) session(ctx context.Context, p *pool, kind txKind) (txSession, error) {
	c, err := p.DB.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return newPostgresSession(c, kind), nil
}

func newPostgresSession(c *sql.Conn, kind txKind) *postgresSession {
	s := &postgresSession{conn: c, begin: beginReadWrite}
	if kind == readOnly {
		s.begin = beginReadOnly
	}
	return s
}

// ExecContext implements bun.IConn.
func (s *postgresSession) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	res, err := s.conn.ExecContext(ctx, query, args...)
	return res, s.lost(err)
}

// QueryContext implements bun.IConn.
func (s *postgresSession) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	rows, err := s.conn.QueryContext(ctx, query, args...)
	return rows, s.lost(err)
}

// QueryRowContext implements bun.IConn.
func (s *postgresSession) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := s.start(ctx); err != nil {
		return failedRow(ctx, err)
	}
	return s.conn.QueryRowContext(ctx, query, args...)
}

// start begins the transaction for a query that comes alone.
func (s *postgresSession) start(ctx context.Context) error {
	switch {
	case s.ended:
		return errDone
	case s.begun:
		return nil
	}
	return s.raw(func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, s.begin)
		s.begun = err == nil
		return err
	})
}

func (s *postgresSession) batch(ctx context.Context, stmts []stmt, last bool) error {
	if s.ended {
		return errDone
	}
	return s.raw(func(c *pgx.Conn) error {
		b := &pgx.Batch{}
		if !s.begun {
			b.Queue(s.begin)
		}
		for _, st := range stmts {
			query, args := st.checked()
			if _, err := c.Prepare(ctx, query, query); err != nil {
				return err
			}
			b.Queue(query, args...)
		}
		if last {
			b.Queue(commitSQL)
		}
		return s.receive(c.SendBatch(ctx, b), stmts, last)
	})
}

// receive reads the answers to a batch. Its first error ends the transaction:
// the server skips the rest, a commit included.
func (s *postgresSession) receive(answers pgx.BatchResults, stmts []stmt, last bool) (err error) {
	defer func() { err = errors.Join(err, answers.Close()) }()
	if !s.begun {
		if _, err := answers.Exec(); err != nil {
			return err
		}
		s.begun = true
	}
	for _, st := range stmts {
		if err := st.receive(answers); err != nil {
			return err
		}
	}
	if last {
		tag, err := answers.Exec()
		return s.committed(tag.String(), err)
	}
	return nil
}

// checked is the statement with its condition on affected rows, if it has one,
// put into the text: in a batch that ends with COMMIT there is no later moment.
// An unmet condition divides by zero.
func (st stmt) checked() (string, []any) {
	if st.affects == 0 {
		return st.sql, st.args
	}
	wanted := len(st.args) + 1
	query := "WITH affected AS (" + st.sql + " RETURNING 1) SELECT 1 / (count(*) = $" + strconv.Itoa(wanted) + ")::int FROM affected"
	return query, append(slices.Clip(st.args), st.affects)
}

func (st stmt) receive(answers pgx.BatchResults) error {
	if st.each == nil {
		tag, err := answers.Exec()
		if st.counted != nil {
			*st.counted += tag.RowsAffected()
		}
		if st.affects != 0 && pgCode(err) == pgDivisionByZero {
			return fmt.Errorf("%w: not %d", errAffected, st.affects)
		}
		return err
	}
	rows, err := answers.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	if _, err := st.eachRow(rows); err != nil {
		return err
	}
	return rows.Err()
}

func (s *postgresSession) commit(ctx context.Context) error {
	switch {
	case s.ended:
		return errDone
	case !s.begun:
		s.ended = true
		return nil
	}
	return s.raw(func(c *pgx.Conn) error {
		tag, err := c.Exec(ctx, commitSQL)
		return s.committed(tag.String(), err)
	})
}

// committed judges the answer to COMMIT. A transaction in which a statement
// failed answers ROLLBACK, and no error.
func (s *postgresSession) committed(tag string, err error) error {
	if err != nil {
		return err
	}
	s.ended = true
	if tag != commitSQL {
		return errors.New("the transaction had failed before its commit")
	}
	return nil
}

func (s *postgresSession) rollback(ctx context.Context) error {
	if err := s.undo(ctx); err != nil {
		return err
	}
	return s.conn.Close()
}

// undo is rollback without giving the connection back. One that could not be rolled
// back is thrown away.
func (s *postgresSession) undo(ctx context.Context) error {
	if !s.begun || s.ended {
		return nil
	}
	s.ended = true
	err := s.raw(func(c *pgx.Conn) error {
		if c.IsClosed() {
			return nil // pgx did it, or the server: the pool notices
		}
		_, err := c.Exec(ctx, "ROLLBACK")
		return err
	})
	if err != nil {
		_ = s.conn.Raw(func(any) error { return sqldriver.ErrBadConn })
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// raw runs do on the connection of pgx below database/sql's.
func (s *postgresSession) raw(do func(*pgx.Conn) error) error {
	return s.conn.Raw(func(c any) error {
		pc := c.(*stdlib.Conn).Conn() //nolint:forcetypeassert // the pool opens no other
		err := do(pc)
		if err != nil && pc.IsClosed() {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		return err
	})
}

// lost marks an error of database/sql that came with the end of the connection.
func (s *postgresSession) lost(err error) error {
	if err == nil {
		return nil
	}
	_ = s.conn.Raw(func(c any) error {
		if pc, ok := c.(*stdlib.Conn); ok && pc.Conn().IsClosed() {
			err = fmt.Errorf("%w: %w", errLost, err)
		}
		return nil
	})
	return err
}
