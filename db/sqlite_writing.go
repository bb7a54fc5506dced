package db

import (
	"context"
	"database/sql"
	"errors"
)

// errFailed is the answer to a statement that follows one that failed.
var errFailed = errors.New("a statement of the transaction has failed: it can only be rolled back")

// writing is a transaction on the connection that writes. The end of a request does
// not interrupt its statements, only the next one does not begin: there others would
// share the interruption, and watching for it costs a goroutine for every statement.
//
// After a statement that failed none runs, as on PostgreSQL: a full disk may have ended
// the transaction, and what followed would be committed on its own.
type writing struct {
	*writer
	over error // why no statement runs any more: errFailed, or errDone
}

// statement runs do, with a context that does not end.
func (w *writing) statement(ctx context.Context, do func(ctx context.Context) error) error {
	if w.over != nil {
		return w.over
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err := do(context.WithoutCancel(ctx))
	if err != nil {
		w.over = errFailed
	}
	return err
}

// run runs the statements in order.
func (w *writing) run(ctx context.Context, stmts []stmt) error {
	for _, st := range stmts {
		err := w.statement(ctx, func(ctx context.Context) error { return w.writer.run(ctx, st) })
		if err != nil {
			return err
		}
	}
	return nil
}

// ExecContext implements bun.IConn.
func (w *writing) ExecContext(ctx context.Context, query string, args ...any) (res sql.Result, err error) {
	err = w.statement(ctx, func(ctx context.Context) error {
		res, err = w.writer.ExecContext(ctx, query, args...)
		return err
	})
	return res, err
}

// QueryContext implements bun.IConn.
func (w *writing) QueryContext(ctx context.Context, query string, args ...any) (rows *sql.Rows, err error) {
	err = w.statement(ctx, func(ctx context.Context) error {
		rows, err = w.writer.QueryContext(ctx, query, args...) //nolint:rowserrcheck,sqlclosecheck // the caller's
		return err
	})
	return rows, err
}

// QueryRowContext implements bun.IConn.
func (w *writing) QueryRowContext(ctx context.Context, query string, args ...any) (row *sql.Row) {
	err := w.statement(ctx, func(ctx context.Context) error {
		row = w.writer.QueryRowContext(ctx, query, args...)
		return row.Err()
	})
	if row == nil {
		return failedRow(ctx, err)
	}
	return row
}
