package db

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// How much one commit may carry, so that the log and the wait for it stay bounded: so
// many transactions, none of which begins later than that after the first.
const (
	maxShared = 64
	shareFor  = 25 * time.Millisecond
)

// errShared is a transaction that was undone with those it would have shared a commit
// with. It is run again, alone: what it is told then is its own.
var errShared = errors.New("the transactions that would have shared a commit were undone together")

// group shares the one connection that writes to SQLite, and its commits (QU-2): the
// wait for the disk is most of what a transaction costs, and one wait serves many.
//
// Whoever waits when the writer becomes free is a batch. Its members run one after
// another in one transaction, in the order of arrival, each in a savepoint and in its
// own goroutine; the last one commits for all. Nobody waits for a timer: who comes to
// a free writer, and finds nobody else, has it for a plain transaction.
//
//	a member is   which means                                  until
//	waiting       it has a place in the queue                  its turn, or the end of its context
//	running       it has the writer, and nobody else has       it commits or rolls back
//	kept          its savepoint is released                    the batch has ended
//	undone        its savepoint is rolled back                 the batch has ended
//	answered      the batch is on the disk, or nothing of it is
//
// What must hold:
//
//   - Nobody is answered before the end of the batch, whether with success or a refusal,
//     which may rest on what an earlier member wrote. So a member may see what earlier
//     ones wrote: if that is undone, so is the member, and its answer is not given.
//   - A member that fails is undone alone. Where that cannot be done, since a full disk
//     or an error of it has ended the transaction around the savepoints, or where the
//     commit fails, nothing of the batch is kept, and every member runs again, alone.
//   - The end of a request reaches no statement: it would interrupt those of all others.
//     A member leaves the queue by it, and is undone where it begins its next statement.
//   - Two members are never of one task: inTx holds the mutex of the task around it all.
//     A member waits for nothing that another one holds, so the batch comes to its end.
//   - Constraints are checked by the statement. One that were deferred to the commit
//     would cost every member a second run; the schema has none.
type group struct {
	around func(do func() error, stmts ...stmt) error // the probe of tests
	log    *slog.Logger
	sizes  prometheus.Histogram // transactions of a commit
	lasts  time.Duration        // shareFor

	kept *writer // of whoever has it; nil until somebody has written

	mu      sync.Mutex
	busy    bool     // somebody has the writer
	waiting []*place // for it
}

// place is one in the queue for the writer.
type place struct {
	alone bool
	turn  chan *batch // of one: whoever gives it does not wait
}

// batch is what one commit carries.
type batch struct {
	shared bool      // with savepoints
	open   int       // how many may still begin
	until  time.Time // and until when
	tx     *writer   // nil until somebody has begun
	kept   int       // members
	err    error     // why nothing is kept; settled when done is closed
	done   chan struct{}
}

// join waits for the writer and begins a transaction that may write, alone or in a
// batch. Its rollback must be called, and gives the writer to the next.
func (g *group) join(ctx context.Context, p *pool, alone bool) (txSession, error) {
	b, err := g.enter(ctx, alone)
	if err != nil {
		return nil, err
	}
	if b.shared {
		return g.member(ctx, p, b)
	}
	w, err := g.begin(context.WithoutCancel(ctx), p)
	if err != nil {
		g.free()
		return nil, err
	}
	return &loner{writing{writer: w}, g}, nil
}

// hold runs do on the connection that writes, which is in no transaction.
func (g *group) hold(ctx context.Context, p *pool, do func(w *writer) error) error {
	if _, err := g.enter(ctx, true); err != nil {
		return err
	}
	defer g.free()
	w, err := g.connect(ctx, p)
	if err != nil {
		return err
	}
	return do(w)
}

// begin begins a transaction for who has the writer.
func (g *group) begin(ctx context.Context, p *pool) (*writer, error) {
	w, err := g.connect(ctx, p)
	if err != nil {
		return nil, err
	}
	return w, w.begin(ctx)
}

func (g *group) connect(ctx context.Context, p *pool) (w *writer, err error) {
	if g.kept == nil {
		g.kept, err = newWriter(ctx, p)
	}
	return g.kept, err
}

// rollback ends what is open. The next one has another connection when that fails.
func (g *group) rollback(ctx context.Context) error {
	err := g.kept.rollback(ctx)
	if err != nil {
		g.kept = nil
	}
	return err
}

// close waits for the writer, and closes its connection.
func (g *group) close() error {
	if _, err := g.enter(context.Background(), true); err != nil {
		return err
	}
	defer g.free()
	if g.kept == nil {
		return nil
	}
	err := g.kept.close()
	g.kept = nil
	return err
}

// enter waits for the writer, and returns the batch in which the caller has it. Once
// it was given, the caller has it, even if the context has ended meanwhile.
func (g *group) enter(ctx context.Context, alone bool) (*batch, error) {
	g.mu.Lock()
	if !g.busy {
		g.busy = true
		g.mu.Unlock()
		return &batch{}, nil
	}
	p := &place{alone, make(chan *batch, 1)}
	g.waiting = append(g.waiting, p)
	g.mu.Unlock()
	select {
	case b := <-p.turn:
		return b, nil
	case <-ctx.Done():
		if g.leave(p) {
			return nil, context.Cause(ctx)
		}
		return <-p.turn, nil
	}
}

// leave takes a place out of the queue, unless it is not there any more.
func (g *group) leave(p *place) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, p)
	if i < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	return true
}

// pass gives the writer to the next member of the batch. There is none when the batch
// has failed, is full or has lasted, and when who waits has to be alone.
func (g *group) pass(b *batch) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.err != nil || b.open == 0 || len(g.waiting) == 0 || g.waiting[0].alone || time.Now().After(b.until) {
		return false
	}
	b.open--
	g.first().turn <- b
	return true
}

// free gives the writer to a new batch of all who wait.
func (g *group) free() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.busy = false
		return
	}
	b := &batch{}
	if size := min(len(g.waiting), maxShared); size > 1 && !g.waiting[0].alone {
		b = &batch{shared: true, open: size - 1, until: time.Now().Add(g.lasts), done: make(chan struct{})}
	}
	g.first().turn <- b
}

// first takes the first place of the queue.
func (g *group) first() *place {
	p := g.waiting[0]
	g.waiting = slices.Delete(g.waiting, 0, 1)
	return p
}
