package db

import (
	"context"
	"fmt"
)

// Deleted tasks and sessions leave their ids behind. Whoever knew one must not see,
// through it, what somebody else makes (API-22), and what a deleted session changed
// in files must not be taken for another session's (HI-25).

// insertOnce inserts the row of a task, or of a session below it, and reports
// whether the id was free. An id that something deleted left behind, and whose traces
// the row would meet, is conflict. That is asked behind the insert: a deletion that
// was waited for is then seen.
func (t *tx) insertOnce(ctx context.Context, row any, id, taskID string, conflict error) (bool, error) {
	inserted, err := insert(ctx, t.querier, row)
	if err != nil || !inserted {
		return false, err
	}
	met, err := t.NewSelect().Table("deleted_ids").Where("id = ?", id).
		Where("(task_id IS NOT NULL OR workspace_id <> (SELECT workspace_id FROM tasks WHERE id = ?))", taskID).Exists(ctx)
	switch {
	case err != nil:
		return false, fmt.Errorf("look up deleted ids: %w", err)
	case met:
		return false, conflict
	}
	return true, nil
}

// retireSession leaves the id of a session behind, before the session is deleted.
func (t *tx) retireSession(ctx context.Context, id string) error {
	_, err := t.NewRaw(`INSERT INTO deleted_ids (id, workspace_id, task_id)
		SELECT s.id, t.workspace_id, t.id FROM task_sessions AS s JOIN tasks AS t ON t.id = s.task_id WHERE s.id = ?
		ON CONFLICT (id) DO UPDATE SET workspace_id = excluded.workspace_id, task_id = excluded.task_id`, id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("retire session: %w", err)
	}
	return nil
}

// retireTask leaves the ids of a task and its sessions behind, before the task is
// deleted. Nothing of it outlives it, so that its workspace may use them again.
func (t *tx) retireTask(ctx context.Context, id string) error {
	for _, query := range []string{
		`UPDATE deleted_ids SET task_id = NULL WHERE task_id = ?`,
		`INSERT INTO deleted_ids (id, workspace_id)
			SELECT t.id, t.workspace_id FROM tasks AS t WHERE t.id = ?
			ON CONFLICT (id) DO UPDATE SET workspace_id = excluded.workspace_id, task_id = NULL`,
		`INSERT INTO deleted_ids (id, workspace_id)
			SELECT s.id, t.workspace_id FROM task_sessions AS s JOIN tasks AS t ON t.id = s.task_id WHERE t.id = ?
			ON CONFLICT (id) DO UPDATE SET workspace_id = excluded.workspace_id, task_id = NULL`,
	} {
		if _, err := t.NewRaw(query, id).Exec(ctx); err != nil {
			return fmt.Errorf("retire task: %w", err)
		}
	}
	return nil
}
