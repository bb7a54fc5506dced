package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain/feed"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// Feed is the store that event streams read.
func (s *Store) Feed() feed.Store { return feedStore{s} }

type feedStore struct{ *Store }

// feedTx is a reading transaction with what streams read in it.
type feedTx struct{ *tx }

// InRead implements feed.Store.
func (s feedStore) InRead(ctx context.Context, fn func(context.Context, feed.ReadTx) error) error {
	return s.inRead(ctx, func(ctx context.Context, t *tx) error { return fn(ctx, feedTx{t}) })
}

// Numbers implements feed.Store.
func (s feedStore) Numbers(ctx context.Context, taskIDs []string) (map[string]int64, error) {
	numbers := make(map[string]int64, len(taskIDs))
	collect := func(scan func(dest ...any) error) error {
		var id string
		var seq int64
		err := scan(&id, &seq)
		numbers[id] = seq
		return err
	}
	err := s.readPrepared(ctx, query(collect,
		"SELECT id, change_seq FROM tasks WHERE "+s.dialect.among("id", 1), s.dialect.textsArg(taskIDs)))
	if err != nil {
		return nil, fmt.Errorf("read change numbers: %w", err)
	}
	return numbers, nil
}

// Task implements feed.ReadTx.
func (t feedTx) Task(ctx context.Context, id string) (found task.Task, err error) {
	err = t.batch(ctx, query(scanTask(&found), wholeTaskSQL, id))
	switch {
	case err != nil:
		return found, fmt.Errorf("read task: %w", err)
	case found.ID == "":
		return found, task.ErrNotFound
	}
	return found, nil
}

// TaskSessions implements feed.ReadTx.
func (t feedTx) TaskSessions(ctx context.Context, taskID string) ([]session.Session, error) {
	return t.sessions(ctx, "task_id = $1", taskID)
}

// SessionsAfter implements feed.ReadTx.
func (t feedTx) SessionsAfter(ctx context.Context, taskID string, after int64) ([]session.Session, error) {
	return t.sessions(ctx, "task_id = $1 AND (queue_seq > $2 OR messages_seq > $2 OR executions_seq > $2 OR interrupt_seq > $2)", taskID, after)
}

func (t feedTx) sessions(ctx context.Context, where string, args ...any) (found []session.Session, err error) {
	collect := func(scan func(dest ...any) error) error {
		var s session.Session
		err := scanSession(&s)(scan)
		found = append(found, s)
		return err
	}
	err = t.batch(ctx, query(collect, wholeSessionsSQL+" WHERE "+where+" ORDER BY created_at, id", args...))
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return found, nil
}

// PlanVersion implements feed.ReadTx.
func (t feedTx) PlanVersion(ctx context.Context, taskID string) (planID string, version int64, err error) {
	err = t.batch(ctx, query(into(&planID, &version), "SELECT id, version FROM task_plans WHERE task_id = $1", taskID))
	switch {
	case err != nil:
		return "", 0, fmt.Errorf("read plan version: %w", err)
	case planID == "":
		return "", 0, plan.ErrNotFound
	}
	return planID, version, nil
}

// queueEntriesSQL leaves the texts where they are: of a long one only the beginning is
// read. Both databases count characters in SUBSTR and bytes in OCTET_LENGTH.
const queueEntriesSQL = `SELECT d.session_id, d.id, d.kind, d.client_id, d.state, d.position, d.version,
  OCTET_LENGTH(d.content), SUBSTR(d.content, 1, $2)
FROM deliveries AS d WHERE ` + unfinishedSQL + ` AND `

// QueueEntries implements feed.ReadTx.
func (t feedTx) QueueEntries(ctx context.Context, sessionIDs []string) (found []feed.Entry, err error) {
	collect := func(scan func(dest ...any) error) error {
		var e feed.Entry
		err := scan(&e.SessionID, &e.ID, &e.Kind, &e.ClientID, &e.State, &e.Position, &e.Version, &e.Size, &e.Preview)
		found = append(found, e)
		return err
	}
	err = t.batch(ctx, query(collect, queueEntriesSQL+t.dialect.among("d.session_id", 1)+" ORDER BY d.session_id, d.position",
		t.dialect.textsArg(sessionIDs), int64(feed.PreviewLength)))
	if err != nil {
		return nil, fmt.Errorf("read queue entries: %w", err)
	}
	return found, nil
}

// InterruptedTurns implements feed.ReadTx.
func (t feedTx) InterruptedTurns(ctx context.Context, sessionIDs []string) ([]session.Turn, error) {
	rows, err := all[turnRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("session_id IN (?)", bun.List(sessionIDs)).Where("state = ?", session.TurnRunning).
			Where("interrupt_requested = ?", true).Order("started_at", "id")
	})
	return each(rows, turnRow.turn), err
}

// stampedRow is an execution with its stamp.
type stampedRow struct {
	bun.BaseModel `bun:"table:subagent_executions,alias:e"`
	subagent.Execution
	ChangeSeq int64
}

func (r stampedRow) event() feed.Execution {
	return feed.Execution{Execution: r.Execution, Seq: r.ChangeSeq}
}

// ExecutionsAfter implements feed.ReadTx.
func (t feedTx) ExecutionsAfter(ctx context.Context, taskID string, after int64) ([]feed.Execution, error) {
	return t.executions(ctx, "change_seq > ?", taskID, after)
}

// RunningExecutionsOf implements feed.ReadTx.
func (t feedTx) RunningExecutionsOf(ctx context.Context, taskID string) ([]feed.Execution, error) {
	return t.executions(ctx, "status = 'running'", taskID)
}

func (t feedTx) executions(ctx context.Context, where, taskID string, args ...any) ([]feed.Execution, error) {
	rows, err := all[stampedRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("task_id = ?", taskID).Where(where, args...).Order("change_seq", "id")
	})
	return each(rows, stampedRow.event), err
}

// stampExecutions gives executions of one task that this transaction writes the number
// that its stamp, which comes last, gives the task (EV-1).
func (t *tx) stampExecutions(ctx context.Context, ids ...string) error {
	const next = `UPDATE subagent_executions SET change_seq = (SELECT t.change_seq + 1 FROM tasks AS t
  WHERE t.id = subagent_executions.task_id) WHERE `
	if err := t.batch(ctx, exec(next+t.dialect.among("id", 1), t.dialect.textsArg(ids))); err != nil {
		return fmt.Errorf("stamp executions: %w", err)
	}
	return nil
}
