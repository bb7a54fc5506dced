package db

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"gatehouse/domain"
)

// postgres is the dialect of PostgreSQL.
type postgres struct {
	config *pgx.ConnConfig // of connections outside of the pool
	slots  chan struct{}   // one for every lease that may be held at once
}

func (postgres) name() string { return "postgres" }

// lock leaves foreign keys to the row alone: they take FOR KEY SHARE.
func (postgres) lock() string { return " FOR NO KEY UPDATE" }

// keep is what a foreign key takes.
func (postgres) keep() string { return " FOR KEY SHARE" }

// now is the clock at this moment: the time a transaction began would be from
// before its wait for a lock.
func (postgres) now() schema.QueryAppender { return bun.Safe("clock_timestamp()") }

func (postgres) nowArg(int) (string, []any) { return "clock_timestamp()", nil }

func (postgres) timeArg(t time.Time) any { return t }

func (postgres) among(column string, n int) string {
	return column + " = ANY($" + strconv.Itoa(n) + "::text[])"
}

// sync has nothing to do: the server answers a commit when it is on disk.
func (postgres) sync(context.Context, *pool) error { return nil }

func (postgres) textsArg(texts []string) any { return texts }

// SQLSTATE codes, and classes of them.
const (
	pgLockNotAvailable  = "55P03"
	pgSerialization     = "40001"
	pgDeadlock          = "40P01"
	pgDiskFull          = "53100"
	pgReadOnly          = "25006"
	pgQueryCanceled     = "57014" // a time-out of the server
	pgIOError           = "58030"
	pgDivisionByZero    = "22012"
	pgClassData         = "22" // a value that cannot be stored or read; the message repeats it
	pgClassConnection   = "08"
	pgClassResources    = "53" // too many connections, out of memory
	pgClassIntervention = "57P"
)

func pgCode(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

func (postgres) retryable(err error) bool {
	switch pgCode(err) {
	case pgSerialization, pgDeadlock, pgLockNotAvailable:
		return true
	}
	return false
}

func (postgres) lost(err error) bool {
	if errors.Is(err, errLost) || errors.Is(err, sqldriver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || pgconn.SafeToRetry(err) {
		return true
	}
	code := pgCode(err)
	return strings.HasPrefix(code, pgClassConnection) || strings.HasPrefix(code, pgClassIntervention)
}

func (d postgres) classify(err error) error {
	code := pgCode(err)
	switch {
	case code == pgDiskFull:
		return fmt.Errorf("%w: %w", domain.ErrStorageFull, err)
	case d.lost(err), d.retryable(err), isNetwork(err),
		code == pgReadOnly, code == pgQueryCanceled, code == pgIOError, strings.HasPrefix(code, pgClassResources):
		return fmt.Errorf("%w: %w", domain.ErrUnavailable, err)
	case strings.HasPrefix(code, pgClassData) && code != pgDivisionByZero:
		return quietError{err, code}
	default:
		return err
	}
}

// quietError is an error of the driver without its text: a message about a value
// repeats the value, and what people wrote reaches no log (OP-9).
type quietError struct {
	error
	code string
}

// Error implements error.
func (e quietError) Error() string { return "value refused by the database, SQLSTATE " + e.code }

// Unwrap gives the driver's error to those who look for its code.
func (e quietError) Unwrap() error { return e.error }

// isNetwork reports whether err came from below PostgreSQL's protocol, or from a
// server that cannot be reached.
func isNetwork(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (postgres) hasTable(ctx context.Context, p *pool, table string) (exists bool, err error) {
	err = p.QueryRowContext(ctx, "SELECT to_regclass(?) IS NOT NULL", table).Scan(&exists)
	return exists, err
}

func (postgres) close() error { return nil }

func (postgres) collectors() []prometheus.Collector { return nil }

// joinEach fences the rows off: the planner takes a recursion for hundreds of times as
// long as it is, and would read the whole table to hash it (250 times slower at 10⁶
// messages).
func (postgres) joinEach(table, alias, condition string) string {
	return "LEFT JOIN LATERAL (SELECT * FROM " + table + " AS " + alias + " WHERE " + condition + " OFFSET 0) AS " + alias + " ON true"
}
