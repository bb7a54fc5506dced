package db

import (
	"context"
	"fmt"
	"runtime"
)

// The savepoint of a member, and how the commit of a batch is told to a probe.
const (
	savepointSQL   = "SAVEPOINT member"
	releaseSQL     = "RELEASE member"
	rollbackToSQL  = "ROLLBACK TO member"
	commitBatchSQL = "COMMIT BATCH"
)

// member is a transaction that shares its commit, see [group].
type member struct {
	writing
	group *group
	of    *batch
	left  bool // it has been kept or undone
}

// member begins the next transaction of a batch, and with the first one the batch.
func (g *group) member(ctx context.Context, p *pool, b *batch) (txSession, error) {
	ctx = context.WithoutCancel(ctx)
	m := &member{group: g, of: b}
	if b.tx == nil {
		w, err := g.begin(ctx, p)
		if err != nil {
			_ = m.leave(ctx) // of a batch that others may still begin
			return nil, err
		}
		b.tx = w
	}
	m.writer = b.tx
	if err := m.say(ctx, savepointSQL); err != nil {
		return nil, m.fail(ctx, err)
	}
	return m, nil
}

// batch implements txSession.
func (m *member) batch(ctx context.Context, stmts []stmt, last bool) error {
	if err := m.run(ctx, stmts); err != nil || !last {
		return err
	}
	return m.commit(ctx)
}

// commit implements txSession. It returns when the batch is on the disk.
func (m *member) commit(ctx context.Context) error {
	if m.over != nil {
		return m.over
	}
	ctx = context.WithoutCancel(ctx)
	if err := m.say(ctx, releaseSQL); err != nil {
		return m.fail(ctx, err)
	}
	m.of.kept++
	return m.leave(ctx)
}

// rollback implements txSession. It undoes this member alone, and returns errShared
// when all of the batch is undone: then nothing that it has read can be relied upon.
func (m *member) rollback(ctx context.Context) error {
	if m.left {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for _, sql := range []string{rollbackToSQL, releaseSQL} {
		if err := m.say(ctx, sql); err != nil {
			return m.fail(ctx, err)
		}
	}
	return m.leave(ctx)
}

// say runs a statement that has to do with the savepoint.
func (m *member) say(ctx context.Context, sql string) error {
	st := exec(sql)
	return m.group.around(func() error { return m.writer.run(ctx, st) }, st)
}

// fail ends the batch, in which nobody can be undone or kept alone any more.
func (m *member) fail(ctx context.Context, err error) error {
	m.of.err = err
	return m.leave(ctx)
}

// leave gives the writer to the next member, or ends the batch, and returns how that
// has ended.
func (m *member) leave(ctx context.Context) error {
	m.left, m.over = true, errDone
	if !m.group.pass(m.of) {
		m.group.end(ctx, m.of)
	}
	<-m.of.done
	return m.of.err
}

// end commits a batch, or undoes it when it has failed, and frees the writer.
func (g *group) end(ctx context.Context, b *batch) {
	if b.tx != nil {
		if b.err == nil {
			b.err = g.around(func() error { return b.tx.commit(ctx) }, exec(commitBatchSQL))
		}
		if err := g.rollback(ctx); err != nil {
			g.log.WarnContext(ctx, "connection discarded", "error", err)
		}
	}
	if b.err == nil {
		g.sizes.Observe(float64(b.kept))
	} else {
		g.log.WarnContext(ctx, "commit of several transactions failed, each is run again alone", "error", b.err)
		b.err = fmt.Errorf("%w: %w", errShared, b.err)
	}
	close(b.done)
	g.free()
	runtime.Gosched() // to the next batch, which would wait for the answer of this member otherwise
}

// loner is a transaction that has the writer, and its commit, for itself.
type loner struct {
	writing
	group *group
}

// batch implements txSession.
func (l *loner) batch(ctx context.Context, stmts []stmt, last bool) error {
	if err := l.run(ctx, stmts); err != nil || !last {
		return err
	}
	return l.commit(ctx)
}

// commit implements txSession.
func (l *loner) commit(ctx context.Context) error {
	if l.over != nil {
		return l.over
	}
	l.over = errDone
	err := l.writer.commit(ctx)
	if err == nil {
		l.group.sizes.Observe(1)
	}
	return err
}

// rollback implements txSession.
func (l *loner) rollback(ctx context.Context) error {
	defer l.group.free()
	return l.group.rollback(ctx)
}
