package db

import (
	"context"
	"io/fs"
	"strconv"
	"time"

	"gatehouse/domain/event"
)

// What the tests outside of this package need of it.
type (
	Tx      = tx
	Querier = querier
	Stmt    = stmt
)

var (
	ErrAffected   = errAffected
	ErrDone       = errDone
	Exec          = exec
	Query         = query
	ScanTime      = scanTime
	ScanNullTime  = scanNullTime
	CommitSQL     = commitSQL
	ErrLeased     = errLeased
	LeaseSQL      = leaseSQL
	UnleaseSQL    = unleaseSQL
	SQLiteLayout  = sqliteTimeLayout
	RetryAttempts = maxAttempts
)

func (s *Store) InTx(ctx context.Context, taskID string, fn func(context.Context, *Tx) error) error {
	return s.inTx(ctx, taskID, fn)
}

func (s *Store) InRead(ctx context.Context, fn func(context.Context, *Tx) error) error {
	return s.inRead(ctx, fn)
}

func (s *Store) Read(ctx context.Context, fn func(context.Context, Querier) error) error {
	return s.read(ctx, fn)
}

func (s *Store) TimeArg(t time.Time) any { return s.dialect.timeArg(t) }

func (s *Store) Lock() string { return s.dialect.lock() }

func (s *Store) Classify(ctx context.Context, err error) error { return s.classify(ctx, err) }

func (s *Store) SetMigrations(files fs.FS) { s.migrations = files }

func (s *Store) Guarded(ctx context.Context, do func(ctx context.Context) error) error {
	return s.dialect.guarded(ctx, s.writer, do)
}

func (s *Store) MigrationFiles() fs.FS { return s.migrations }

func (t *Tx) Batch(ctx context.Context, stmts ...Stmt) error      { return t.batch(ctx, stmts...) }
func (t *Tx) CommitWith(ctx context.Context, stmts ...Stmt) error { return t.commitWith(ctx, stmts...) }
func (t *Tx) Now(ctx context.Context) (time.Time, error)          { return t.now(ctx) }

// Affecting is st with the number of rows it must change.
func Affecting(n int64, st Stmt) Stmt {
	st.affects = n
	return st
}

// What a notification says, and how it is heard.
const MaxPayload = maxPayload

func Payloads(sender string, tasks map[string]int64) []string { return payloads(sender, tasks) }

// HearAs lets the exchange of a process called sender hear a notification.
func HearAs(sender string, hub *event.Hub, payload string) {
	(&postgresExchange{hub: hub, sender: sender}).hear(payload)
}

// TakeAfter is what an exchange tells after n tasks have changed.
func TakeAfter(sender string, n int) []string {
	e := &postgresExchange{sender: sender, kick: make(chan struct{}, 1), untold: map[string]int64{}}
	for i := range n {
		e.note(event.Notice{TaskID: strconv.Itoa(i), Seq: 1})
	}
	return e.take()
}

// MaxUntold is how many tasks an exchange tells by name.
const MaxUntold = maxUntold

// Unnamed is how SQLite is given the text of a statement.
var Unnamed = unnamed

// How savepoints, and a commit that several transactions share, are told to a probe.
const (
	CommitBatchSQL = commitBatchSQL
	SavepointSQL   = savepointSQL
	RollbackToSQL  = rollbackToSQL
	MaxShared      = maxShared
)

// ErrFailed is the answer to a statement that follows one that failed.
var ErrFailed = errFailed

// ShareFor is how long after its first member a batch takes others.
func (s *Store) ShareFor(d time.Duration) { s.dialect.(*sqlite).group.lasts = d }

// WritersWaiting is how many wait for the writer of SQLite.
func (s *Store) WritersWaiting() int {
	g := &s.dialect.(*sqlite).group
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}
