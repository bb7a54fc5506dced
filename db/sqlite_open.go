package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	driver "modernc.org/sqlite"
)

// openSQLite opens one writer, whose transactions begin immediate, and several
// readers (OP-5). location is what follows "sqlite:" in the URL.
func openSQLite(ctx context.Context, location string, opts Options) (*Store, error) {
	path, err := sqlitePath(location)
	if err != nil {
		return nil, err
	}
	if opts.ReadOnly {
		return lookAtSQLite(ctx, path, opts)
	}
	if err := errors.Join(createPrivate(path), checkFile(path)); err != nil {
		return nil, err
	}
	writerParams, err := writerParams(opts.SQLiteSynchronous)
	if err != nil {
		return nil, err
	}
	d := newSQLite(path, opts)
	writer, err := sqlitePool(path, 2, writerParams) // one is kept for transactions, the other looks after the file
	if err != nil {
		return nil, err
	}
	// The writer comes first: it creates the file and makes it a WAL database.
	if err := d.connect(ctx, writer); err != nil {
		return nil, errors.Join(err, writer.close())
	}
	readers := 2 * runtime.GOMAXPROCS(0)
	if opts.MaxConnections > 0 {
		readers = opts.MaxConnections - 1
	}
	reader, err := sqlitePool(path, readers, readerParams())
	if err != nil {
		return nil, errors.Join(err, writer.close())
	}
	s := d.store(writer, reader)
	if err := d.connect(ctx, reader); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func newSQLite(path string, opts Options) *sqlite {
	return &sqlite{path: path, clock: opts.Clock, group: group{
		log:   opts.Log,
		lasts: shareFor,
		sizes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "gatehouse_sqlite_commit_transactions",
			Help:    "Transactions that were put on the disk by one commit.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 7), // to maxShared
		}),
	}}
}

func (d *sqlite) store(writer, reader *pool) *Store {
	s := &Store{dialect: d, writer: writer, reader: reader, migrations: migrationFiles(d)}
	d.group.around = s.around
	return s
}

// sqlitePath is the absolute path of the file a URL names.
func sqlitePath(location string) (string, error) {
	name := strings.TrimPrefix(location, "//")
	switch {
	case name == "" || strings.HasSuffix(name, "/"):
		return "", errors.New("the URL names no file: write sqlite:PATH")
	case strings.HasPrefix(name, ":memory:"):
		return "", errors.New("a database in memory is not supported: write sqlite:PATH")
	case strings.ContainsRune(name, 0):
		return "", errors.New("the path of a database cannot hold a NUL character")
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", fmt.Errorf("the folder %s does not exist: create it first", filepath.Dir(path))
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the locks beside it are those of the file, not of a link to it
	}
	return path, nil
}

// createPrivate makes the file of a new database readable by its owner alone: it
// holds prompts and transcripts. SQLite gives its other files the same mode.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the operator's own path
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create the database: %w", err)
	}
	return f.Close()
}

// writerParams are the settings of the connection that writes. The checkpoint
// runs less often than by default, which halves the 99th percentile of a commit,
// and a WAL that a long reader made grow is cut back.
func writerParams(level Synchronous) (url.Values, error) {
	switch level {
	case "":
		level = SynchronousFull
	case SynchronousFull, SynchronousNormal:
	default:
		return nil, fmt.Errorf("synchronous is %q, it must be %s or %s", level, SynchronousFull, SynchronousNormal)
	}
	return url.Values{
		"_txlock": {"immediate"},
		"_dqs":    {"0"}, // a misspelt "column" is an error, not a text
		"_pragma": {
			"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(" + string(level) + ")", "foreign_keys(1)",
			"temp_store(MEMORY)", "wal_autocheckpoint(4000)", "journal_size_limit(67108864)",
		},
	}, nil
}

// readerParams are the settings of the connections that only read: pages come
// out of the mapped file, which makes them two and a half times as fast.
func readerParams() url.Values {
	return url.Values{
		"_txlock": {"deferred"},
		"_dqs":    {"0"},
		"_pragma": {
			"busy_timeout(5000)", "query_only(1)", "foreign_keys(1)", "temp_store(MEMORY)", "mmap_size(268435456)",
		},
	}
}

func sqlitePool(path string, size int, params url.Values) (*pool, error) {
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: params.Encode()}
	connector, err := driver.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return &pool{DB: bun.NewDB(db, sqliteTimes{sqlitedialect.New()}), stmts: stmtCache{spell: unnamed}}, nil
}

// connect makes the first connection of p. Turning a new file into a WAL
// database does not wait for the lock of another process that does the same, so
// it is tried again.
func (d *sqlite) connect(ctx context.Context, p *pool) error {
	for n := 1; ; n++ {
		err := p.PingContext(ctx)
		if err == nil || !d.retryable(err) || n == maxAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(rand.N(20 * time.Millisecond << n)):
		}
	}
}
