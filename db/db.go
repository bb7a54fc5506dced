// Package db keeps the service's data in SQLite or PostgreSQL, on bun.
//
// Everything that differs between the two stands behind one small interface,
// [dialect], and in the files named after them. The other files know one
// database: a [Store] that runs transactions ([Store.inTx]), consistent reads
// ([Store.inRead]) and single statements ([Store.read]).
package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/uptrace/bun"

	"gatehouse/db/internal/probe"
	"gatehouse/domain"
)

// Synchronous is how hard SQLite tries to keep a commit through a power failure.
type Synchronous string

// What Options.SQLiteSynchronous may be. With Normal the last commits may be
// lost when the machine, not the process, stops; the file stays whole.
const (
	SynchronousFull   Synchronous = "FULL"
	SynchronousNormal Synchronous = "NORMAL"
)

// DefaultMaxConnections is the size of the pool of a PostgreSQL database.
const DefaultMaxConnections = 16

// Options say which database to open, and how (OP-3, OP-5).
type Options struct {
	// URL is sqlite:PATH, where the rest is taken literally and a leading //
	// is dropped (sqlite:///abs/path, sqlite://./rel, sqlite:rel), or postgres://….
	URL string
	// SQLiteSynchronous is FULL when it is empty.
	SQLiteSynchronous Synchronous
	// MaxConnections bounds what this process opens, at least 2. Zero means
	// DefaultMaxConnections on PostgreSQL, and on SQLite one writer and two
	// readers for every processor. SQLite has one more to look after the file.
	MaxConnections int
	// ReadOnly opens what is there to be looked at, also beside a server: nothing is
	// changed and no file is made. Transactions that write fail.
	ReadOnly bool
	// Clock judges leases and expiries on SQLite, where the process is the
	// database. The system's clock when it is nil. PostgreSQL uses its own.
	Clock domain.Clock
	// Log is told what no caller is: a connection thrown away. Nil for nobody.
	Log *slog.Logger
}

// Store is every store of the domain on one database.
type Store struct {
	dialect    dialect
	writer     *pool
	reader     *pool // the same as writer where one pool serves both
	tasks      keyedMutex
	leases     keyedMutex    // another one than tasks: a holder works under it
	merges     chan struct{} // one for every merge of contexts that may run at once
	log        *slog.Logger
	migrations fs.FS
	probe      atomic.Pointer[probe.Func]
}

// Open connects to the database that opts.URL names. It changes nothing in a
// schema: see [Store.Migrate]. No error it returns holds a password.
func Open(ctx context.Context, opts Options) (*Store, error) {
	if opts.MaxConnections == 1 || opts.MaxConnections < 0 {
		return nil, fmt.Errorf("open database: %d connections are too few, it takes 2: a lease holds one while it is worked", opts.MaxConnections)
	}
	if opts.Clock == nil {
		opts.Clock = domain.SystemClock
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s, err := open(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	s.log = opts.Log
	s.merges = make(chan struct{}, max(1, cmp.Or(opts.MaxConnections, DefaultMaxConnections)/mergeShare))
	return s, nil
}

func open(ctx context.Context, opts Options) (*Store, error) {
	scheme, rest, _ := strings.Cut(opts.URL, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(ctx, rest, opts)
	case "postgres", "postgresql":
		return openPostgres(ctx, opts)
	default:
		return nil, errors.New("the URL must begin with sqlite: or postgres://")
	}
}

// Close releases the connections. Statements that are running are waited for.
func (s *Store) Close() error {
	err := errors.Join(s.dialect.close(), s.writer.close())
	if s.reader != s.writer {
		err = errors.Join(s.reader.close(), err)
	}
	return err
}

// Sync returns when every commit so far survives a power failure, also where
// Options.SQLiteSynchronous did not make each of them wait for that.
func (s *Store) Sync(ctx context.Context) error {
	if err := s.dialect.sync(ctx, s.writer); err != nil {
		return fmt.Errorf("put commits on disk: %w", s.classify(ctx, err))
	}
	return nil
}

// Name is "sqlite" or "postgres", for people and labels, never for decisions.
func (s *Store) Name() string { return s.dialect.name() }

// SetProbe puts a probe around every statement, or takes it away with nil. Only
// the tests below db can make one: everybody else goes through dbtest.
func (s *Store) SetProbe(f probe.Func) {
	if f == nil {
		s.probe.Store(nil)
		return
	}
	s.probe.Store(&f)
}

// pool is a set of connections, and the statements prepared on them.
type pool struct {
	*bun.DB
	stmts stmtCache
}

// run runs a statement on any connection of the pool, prepared there.
func (p *pool) run(ctx context.Context, st stmt) error {
	prepared, err := p.stmts.prepared(ctx, p.DB.DB, st.sql) //nolint:sqlclosecheck // the cache closes it
	if err != nil {
		return err
	}
	rows, err := prepared.QueryContext(ctx, st.args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if _, err := st.eachRow(rows); err != nil {
		return err
	}
	return rows.Err()
}

func (p *pool) close() error { return errors.Join(p.stmts.close(), p.Close()) }
