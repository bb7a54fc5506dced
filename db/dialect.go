package db

import (
	"context"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/uptrace/bun/schema"

	"gatehouse/domain/event"
)

// dialect is everything that differs between the two databases.
type dialect interface {
	starting
	phrasing
	reading
	failures

	// name is the name of the database and of its folder of migrations.
	name() string

	// session takes a connection of p and prepares a transaction on it, which may
	// wait for others that write.
	session(ctx context.Context, p *pool, kind txKind) (txSession, error)

	// lease takes the lease of a task against other processes, on a connection
	// of p, unless one of them holds it. The connection is nil where there are none.
	lease(ctx context.Context, p *pool, taskID string) (c leaseConn, taken bool, err error)

	// hasTable reports whether the schema holds the table.
	hasTable(ctx context.Context, p *pool, table string) (bool, error)

	// sync puts on disk what was committed through p.
	sync(ctx context.Context, p *pool) error

	// exchange starts to carry notices between the processes of the database.
	exchange(s *Store, hub *event.Hub) *Exchange

	// close gives back the connections that it has kept.
	close() error

	// collectors are the metrics that only this database has.
	collectors() []prometheus.Collector
}

// starting is what brings a database up to date.
type starting interface {
	// migrator is goose on this database, guarded against other processes.
	migrator(p *pool, files fs.FS) (*goose.Provider, error)

	// guarded runs do while no other process migrates, nor does what else is
	// guarded (SC-30). do takes connections of its own.
	guarded(ctx context.Context, p *pool, do func(ctx context.Context) error) error

	// unhurried lifts the time-outs that are meant for requests from t.
	unhurried(ctx context.Context, t *tx) error
}

// phrasing is what a query has to say differently.
type phrasing interface {
	// lock is appended to a select to lock its rows until the end of the
	// transaction, against other writers but not against foreign keys.
	lock() string

	// keep is appended to a select to keep its rows from being deleted until the end
	// of the transaction. Nobody who changes them waits for that.
	keep() string

	// now is the database's clock as a fragment of a query (OP-3). [tx.now] asks it.
	now() schema.QueryAppender

	// nowArg is the same for a prepared statement: an expression, and the argument $n
	// if it takes one.
	nowArg(n int) (expression string, arg []any)

	// timeArg is t the way the database stores and compares it.
	timeArg(t time.Time) any

	// among is a condition of a prepared statement: column is one of the texts in
	// argument $n, which textsArg made.
	among(column string, n int) string

	// textsArg is a list of texts as one argument.
	textsArg(texts []string) any

	// joinEach is a left join that looks the rows of a table up anew for every row
	// before it, by the index that the condition leads to.
	joinEach(table, alias, condition string) string
}

// reading is what a query reads of JSON that anybody may have written, and of the
// schema. Of a document of any form, or of none, a member is null where it is not what
// is asked for: no row fails a statement (SC-31). Paths are names of members.
type reading interface {
	// jsonString is the member at a path, when it is a text.
	jsonString(column string, path ...string) string

	// jsonObject is a condition: the member at a path is an object.
	jsonObject(column string, path ...string) string

	// jsonInteger is the member at a path, when it is a number that is integral by
	// value and fits 64 bits: 1e3 is 1000.
	jsonInteger(column string, path ...string) string

	// jsonTruth is 1 where the member at a path is true or 1, and 0 elsewhere.
	jsonTruth(column string, path ...string) string

	// uniqueIndexes selects the unique indexes of the table $1: the name of each,
	// whether it holds all rows, and the name of a column, in order.
	uniqueIndexes() string
}

// failures tells the errors of the driver apart, by their codes.
type failures interface {
	// retryable reports whether a transaction that failed with err, and left
	// nothing behind, may succeed when it is run again.
	retryable(err error) bool

	// lost reports whether err means that the connection is gone. What was
	// not committed is then rolled back; what was being committed is unknown.
	lost(err error) bool

	// classify wraps an error of the driver in the failure of the domain it
	// amounts to, and returns any other error as it is.
	classify(err error) error
}
