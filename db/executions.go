package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// Executions is the store of the runs of subagents.
func (s *Store) Executions() subagent.ExecutionStore { return executionStore{s} }

type executionStore struct{ *Store }

type executionRow struct {
	bun.BaseModel `bun:"table:subagent_executions,alias:e"`
	subagent.Execution
}

func (r executionRow) execution() subagent.Execution { return r.Execution }

// InTx implements subagent.ExecutionStore.
func (s executionStore) InTx(ctx context.Context, taskID string, fn func(context.Context, subagent.ExecutionTx) error) error {
	return s.inTx(ctx, taskID, func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}

// Executions implements subagent.ExecutionStore.
func (s executionStore) Executions(ctx context.Context, parentSessionID string, after *domain.Position, limit int) (found []subagent.Execution, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[executionRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			return listBehind(q.Where("parent_session_id = ?", parentSessionID), "started_at", after, limit)
		})
		found = each(rows, executionRow.execution)
		return err
	})
	return found, err
}

// Execution implements subagent.ExecutionTx.
func (t *tx) Execution(ctx context.Context, id string) (subagent.Execution, error) {
	row, err := one[executionRow](ctx, t.querier, subagent.ErrExecutionNotFound, "id = ?", id)
	return row.Execution, err
}

// InsertExecution implements subagent.ExecutionTx.
func (t *tx) InsertExecution(ctx context.Context, started subagent.Execution) (bool, error) {
	inserted, err := insert(ctx, t.querier, &executionRow{Execution: started})
	if err != nil || !inserted {
		return false, err
	}
	return true, t.stampExecutions(ctx, started.ID)
}

// EndExecution implements subagent.ExecutionEnder.
func (t *tx) EndExecution(ctx context.Context, ended subagent.Execution) error {
	if err := update(ctx, t.querier, &executionRow{Execution: ended}, "status", "end_message_seq", "ended_at", "updated_at"); err != nil {
		return err
	}
	return t.stampExecutions(ctx, ended.ID)
}

// RunningExecutions implements subagent.ExecutionEnder.
func (t *tx) RunningExecutions(ctx context.Context, sessionID string) ([]subagent.Execution, error) {
	rows, err := all[executionRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("child_session_id = ? OR parent_session_id = ?", sessionID, sessionID).
			Where("status = ?", subagent.ExecutionRunning).Order("id")
	})
	return each(rows, executionRow.execution), err
}

// LaterRuns implements subagent.ExecutionMover.
func (t *tx) LaterRuns(ctx context.Context, childSessionID string, run int) ([]subagent.Execution, error) {
	rows, err := all[executionRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("child_session_id = ? AND run > ?", childSessionID, run).Order("run")
	})
	return each(rows, executionRow.execution), err
}

// MoveExecution implements subagent.ExecutionMover.
func (t *tx) MoveExecution(ctx context.Context, moved subagent.Execution) error {
	if err := update(ctx, t.querier, &executionRow{Execution: moved}, "start_message_seq", "end_message_seq", "updated_at"); err != nil {
		return err
	}
	return t.stampExecutions(ctx, moved.ID)
}

// LastRun implements subagent.ExecutionTx.
func (t *tx) LastRun(ctx context.Context, childSessionID string) (run int, running bool, err error) {
	err = t.NewSelect().Table("subagent_executions").
		ColumnExpr("COALESCE(MAX(run), 0)").
		ColumnExpr("COALESCE(MAX(CASE WHEN status = ? THEN 1 ELSE 0 END), 0) = 1", subagent.ExecutionRunning).
		Where("child_session_id = ?", childSessionID).
		Scan(ctx, &run, &running)
	if err != nil {
		return 0, false, fmt.Errorf("look up the last run: %w", err)
	}
	return run, running, nil
}
