package db

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
)

// writer is the connection that writes to SQLite, with what was prepared on it. It is
// kept from the first write on, and begins and ends transactions by statements: those
// of database/sql cost a third of the time of an admission, for goroutines that watch
// every query for the end of a context which here has none.
type writer struct {
	*sql.Conn
	stmts map[string]*sql.Stmt
	open  bool // in a transaction
}

func newWriter(ctx context.Context, p *pool) (*writer, error) {
	c, err := p.DB.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &writer{Conn: c, stmts: map[string]*sql.Stmt{}}, nil
}

// run runs a statement, prepared.
func (w *writer) run(ctx context.Context, st stmt) error {
	prepared := w.stmts[st.sql]
	if prepared == nil {
		var err error
		if prepared, err = w.PrepareContext(ctx, unnamed(st.sql)); err != nil {
			return err
		}
		w.stmts[st.sql] = prepared
	}
	return runSQLite(ctx, prepared, st)
}

// begin waits for other processes, as long as the busy time-out.
func (w *writer) begin(ctx context.Context) error {
	err := w.run(ctx, exec("BEGIN IMMEDIATE"))
	w.open = err == nil
	return err
}

// commit leaves a transaction that it could not end to rollback.
func (w *writer) commit(ctx context.Context) error {
	err := w.run(ctx, exec("COMMIT"))
	w.open = err != nil
	return err
}

// rollback ends the transaction, if there is one. After an error the connection is
// closed: a full disk or an I/O error has ended the transaction already, but whether
// that was it cannot be told, and a new connection is certainly in none.
func (w *writer) rollback(ctx context.Context) error {
	if !w.open {
		return nil
	}
	w.open = false
	if err := w.run(ctx, exec("ROLLBACK")); err != nil {
		w.forget()
		_ = w.Raw(func(any) error { return sqldriver.ErrBadConn })
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}

// close gives the connection back.
func (w *writer) close() error {
	w.forget()
	return w.Close()
}

// forget closes what was prepared, as the driver wants it before the connection.
func (w *writer) forget() {
	for _, st := range w.stmts {
		_ = st.Close()
	}
	clear(w.stmts)
}
