package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"gatehouse/domain"
	"gatehouse/domain/event"
)

// sqlite is the dialect of SQLite.
type sqlite struct {
	path  string
	clock domain.Clock
	group group
}

func (*sqlite) name() string { return "sqlite" }

// lock is empty: a transaction that writes begins immediate, so the whole
// database is its own already.
func (*sqlite) lock() string { return "" }

// keep is empty for the same reason.
func (*sqlite) keep() string { return "" }

// now is the clock of the process, which is the only one SQLite has.
func (d *sqlite) now() schema.QueryAppender { return bun.SafeQuery("?", d.clock()) }

func (d *sqlite) nowArg(n int) (string, []any) {
	return "$" + strconv.Itoa(n), []any{d.timeArg(d.clock())}
}

func (*sqlite) timeArg(t time.Time) any { return t.UTC().Format(sqliteTimeLayout) }

func (*sqlite) among(column string, n int) string {
	return column + " IN (SELECT value FROM json_each($" + strconv.Itoa(n) + "))"
}

func (*sqlite) textsArg(texts []string) any {
	b, err := json.Marshal(texts)
	if err != nil {
		panic(err) // texts always encode
	}
	return string(b)
}

// sync moves the log into the file: that puts both on disk.
func (d *sqlite) sync(ctx context.Context, p *pool) error {
	return d.group.hold(ctx, p, func(w *writer) error {
		var busy, frames, moved int
		err := w.QueryRowContext(ctx, "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &frames, &moved)
		if err == nil && busy != 0 {
			err = errors.New("the write-ahead log is in use")
		}
		return err
	})
}

func (d *sqlite) close() error { return d.group.close() }

// retryable is a lock that another process, or a reader that turned writer, held
// for longer than the busy time-out, and a failure that may be that of another.
func (*sqlite) retryable(err error) bool {
	return sqliteCode(err) == lib.SQLITE_BUSY || errors.Is(err, errShared)
}

// lost is never true: there is no connection to lose.
func (*sqlite) lost(error) bool { return false }

func (*sqlite) classify(err error) error {
	switch sqliteCode(err) {
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: %w", domain.ErrStorageFull, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_READONLY, lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_PROTOCOL:
		return fmt.Errorf("%w: %w", domain.ErrUnavailable, err)
	default:
		return err
	}
}

// sqliteCode is the primary result code of err, SQLITE_OK if it has none.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return lib.SQLITE_OK
}

func (*sqlite) hasTable(ctx context.Context, p *pool, table string) (exists bool, err error) {
	err = p.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)", table).Scan(&exists)
	return exists, err
}

// exchange has nobody else to tell: one process serves a file (OP-14).
func (*sqlite) exchange(_ *Store, hub *event.Hub) *Exchange { return &Exchange{hub, func() {}} }

func (d *sqlite) collectors() []prometheus.Collector {
	return []prometheus.Collector{d.group.sizes, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gatehouse_sqlite_wal_bytes",
		Help: "Size of the write-ahead log of the SQLite database.",
	}, d.walBytes)}
}

func (d *sqlite) walBytes() float64 {
	info, err := os.Stat(d.path + "-wal")
	if err != nil {
		return 0
	}
	return float64(info.Size())
}

// sqliteHeader begins every database file but an empty one.
const sqliteHeader = "SQLite format 3\x00"

// checkFile refuses a path that cannot become, or is not, a database, in words
// that SQLite does not have.
func checkFile(path string) error {
	f, err := os.Open(path) //nolint:gosec // the operator's own path
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	header := make([]byte, len(sqliteHeader))
	switch n, err := io.ReadFull(f, header); {
	case n == 0 && errors.Is(err, io.EOF):
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case string(header) != sqliteHeader:
		return fmt.Errorf("%s is not an SQLite database", path)
	}
	return nil
}

func (*sqlite) joinEach(table, alias, condition string) string {
	return "LEFT JOIN " + table + " AS " + alias + " ON " + condition
}
