package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain"
	"gatehouse/domain/task"
)

// Tasks is the store of tasks.
func (s *Store) Tasks() task.Store { return taskStore{s} }

type taskStore struct{ *Store }

type taskRow struct {
	bun.BaseModel `bun:"table:tasks,alias:t"`
	task.Task
}

func (r taskRow) task() task.Task { return r.Task }

// InTx implements task.Store.
func (s taskStore) InTx(ctx context.Context, taskID string, fn func(context.Context, task.WriteTx) error) error {
	return s.inTx(ctx, taskID, func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}

// Task implements task.Store.
func (s taskStore) Task(ctx context.Context, id string) (t task.Task, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		row, err := one[taskRow](ctx, q, task.ErrNotFound, "id = ?", id)
		t = row.Task
		return err
	})
	return t, err
}

// Tasks implements task.Store.
func (s taskStore) Tasks(ctx context.Context, f task.Filter, after *domain.Position, limit int) (tasks []task.Task, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[taskRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			if f.WorkspaceID != nil {
				q = q.Where("workspace_id = ?", *f.WorkspaceID)
			}
			if f.Archived != nil {
				q = q.Where("archived = ?", *f.Archived)
			}
			return listBehind(q, "created_at", after, limit)
		})
		tasks = each(rows, taskRow.task)
		return err
	})
	return tasks, err
}

// wholeTaskSQL is prepared, as every mutation begins with it.
const wholeTaskSQL = `SELECT id, workspace_id, title, description, archived, primary_session_id, create_fingerprint,
  change_seq, task_seq, plan_seq, comments_seq, created_at, updated_at
FROM tasks WHERE id = $1`

// scanTask reads the row of [wholeTaskSQL] into t.
func scanTask(t *task.Task) func(scan func(dest ...any) error) error {
	return into(
		&t.ID, &t.WorkspaceID, &t.Title, &t.Description, &t.Archived, &t.PrimarySessionID,
		&t.CreateFingerprint, &t.ChangeSeq, &t.TaskSeq, &t.PlanSeq, &t.CommentsSeq,
		scanTime(&t.CreatedAt), scanTime(&t.UpdatedAt),
	)
}

// LockTask implements task.Locker.
func (t *tx) LockTask(ctx context.Context, id string) (locked task.Task, err error) {
	err = t.batch(ctx, query(scanTask(&locked), wholeTaskSQL+t.dialect.lock(), id))
	switch {
	case err != nil:
		return locked, fmt.Errorf("lock task: %w", err)
	case locked.ID == "":
		return locked, task.ErrNotFound
	}
	return locked, nil
}

// Task implements task.WriteTx.
func (t *tx) Task(ctx context.Context, id string) (task.Task, error) {
	row, err := one[taskRow](ctx, t.querier, task.ErrNotFound, "id = ?", id)
	return row.Task, err
}

// InsertTask implements task.WriteTx.
func (t *tx) InsertTask(ctx context.Context, made task.Task) (bool, error) {
	return t.insertOnce(ctx, &taskRow{Task: made}, made.ID, made.ID, task.ErrConflict)
}

// UpdateTask implements task.WriteTx.
func (t *tx) UpdateTask(ctx context.Context, changed task.Task) error {
	return update(ctx, t.querier, &taskRow{Task: changed},
		"title", "description", "archived", "primary_session_id", "updated_at")
}

// TaskHasSession implements task.WriteTx.
func (t *tx) TaskHasSession(ctx context.Context, taskID, sessionID string) (bool, error) {
	found, err := t.NewSelect().Table("task_sessions").
		Where("id = ?", sessionID).Where("task_id = ?", taskID).Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("look up session: %w", err)
	}
	return found, nil
}
