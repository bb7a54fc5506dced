package db

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/uptrace/bun"

	"gatehouse/db/internal/probe"
)

// conn is what a query of bun runs on.
type conn = bun.IConn

// querier builds queries of bun that run on one connection, and through the
// probe of tests where one is set.
type querier struct {
	db   *bun.DB
	conn conn
}

// NewSelect starts a SELECT.
func (q querier) NewSelect() *bun.SelectQuery { return q.db.NewSelect().Conn(q.conn) }

// NewInsert starts an INSERT.
func (q querier) NewInsert() *bun.InsertQuery { return q.db.NewInsert().Conn(q.conn) }

// NewUpdate starts an UPDATE.
func (q querier) NewUpdate() *bun.UpdateQuery { return q.db.NewUpdate().Conn(q.conn) }

// NewDelete starts a DELETE.
func (q querier) NewDelete() *bun.DeleteQuery { return q.db.NewDelete().Conn(q.conn) }

// NewRaw is a query written out. Its ? placeholders are bun's.
func (q querier) NewRaw(query string, args ...any) *bun.RawQuery {
	return q.db.NewRaw(query, args...).Conn(q.conn)
}

// probed is a connection whose statements pass the probe.
type probed struct {
	conn
	store *Store
}

// ExecContext implements bun.IConn.
func (p probed) ExecContext(ctx context.Context, query string, args ...any) (res sql.Result, err error) {
	err = p.store.around(func() error {
		res, err = p.conn.ExecContext(ctx, query, args...)
		return err
	}, stmt{sql: query, args: args})
	return res, err
}

// QueryContext implements bun.IConn.
func (p probed) QueryContext(ctx context.Context, query string, args ...any) (rows *sql.Rows, err error) {
	err = p.store.around(func() error {
		rows, err = p.conn.QueryContext(ctx, query, args...) //nolint:rowserrcheck,sqlclosecheck // the caller's
		return err
	}, stmt{sql: query, args: args})
	if err != nil && rows != nil {
		_ = rows.Close()
		rows = nil
	}
	return rows, err
}

// QueryRowContext implements bun.IConn.
func (p probed) QueryRowContext(ctx context.Context, query string, args ...any) (row *sql.Row) {
	err := p.store.around(func() error {
		row = p.conn.QueryRowContext(ctx, query, args...)
		return row.Err()
	}, stmt{sql: query, args: args})
	if err != nil && (row == nil || row.Err() == nil) {
		if row != nil {
			_ = row.Scan() // closes it: an open one keeps the connection
		}
		return failedRow(ctx, err)
	}
	return row
}

// around runs do between the two calls of the probe for every statement of it.
func (s *Store) around(do func() error, stmts ...stmt) error {
	f := s.probe.Load()
	if f == nil {
		return do()
	}
	for _, st := range stmts {
		if err := (*f)(probe.Before, st.sql, st.args); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	for _, st := range stmts {
		if err := (*f)(probe.After, st.sql, st.args); err != nil {
			return err
		}
	}
	return nil
}

// failedRow is a row whose Scan returns err: database/sql makes one only out of
// the failure of a driver.
func failedRow(ctx context.Context, err error) *sql.Row {
	db := sql.OpenDB(failingDriver{err})
	defer func() { _ = db.Close() }()
	return db.QueryRowContext(ctx, "")
}

type failingDriver struct{ err error }

// Connect implements driver.Connector.
func (d failingDriver) Connect(context.Context) (driver.Conn, error) { return nil, d.err }

// Driver implements driver.Connector.
func (d failingDriver) Driver() driver.Driver { return nil }
