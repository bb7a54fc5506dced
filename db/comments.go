package db

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"gatehouse/domain/plan"
)

type creationRow struct {
	bun.BaseModel `bun:"table:task_plan_comment_creates,alias:l"`
	plan.Creation
}

// commentsSQL reads revision and comments in one statement: a plan without
// comments is a row of nulls, no plan is no row.
const commentsSQL = `SELECT p.id, p.comments_revision,
  c.id, c.body, c.selected_text, c.anchor_from, c.anchor_to, c.version, c.created_at, c.updated_at
FROM task_plans AS p LEFT JOIN task_plan_comments AS c ON c.plan_id = p.id
WHERE p.task_id = $1
ORDER BY c.created_at, c.id`

// scanComments collects the rows of [commentsSQL] in s, which knows its task.
func scanComments(s *plan.Snapshot) func(scan func(dest ...any) error) error {
	return func(scan func(dest ...any) error) error {
		var (
			id, body, selected *string
			from, to, version  *int64
			created, updated   *time.Time
		)
		err := scan(&s.PlanID, &s.Revision,
			&id, &body, &selected, &from, &to, &version, scanNullTime(&created), scanNullTime(&updated))
		if err != nil || id == nil {
			return err
		}
		s.Comments = append(s.Comments, plan.Comment{
			TaskID:       s.TaskID,
			ID:           *id,
			PlanID:       s.PlanID,
			Body:         *body,
			SelectedText: *selected,
			AnchorFrom:   *from,
			AnchorTo:     *to,
			Version:      *version,
			CreatedAt:    *created,
			UpdatedAt:    *updated,
		})
		return nil
	}
}

// CommentsSnapshot implements plan.Store.
func (s planStore) CommentsSnapshot(ctx context.Context, taskID string) (plan.Snapshot, error) {
	found := plan.Snapshot{TaskID: taskID}
	err := s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.conn.QueryContext(ctx, commentsSQL, taskID)
		if err != nil {
			return fmt.Errorf("read plan comments: %w", err)
		}
		defer func() { _ = rows.Close() }()
		collect := scanComments(&found)
		for rows.Next() {
			if err := collect(rows.Scan); err != nil {
				return fmt.Errorf("read plan comments: %w", err)
			}
		}
		return rows.Err()
	})
	return requirePlan(found, err)
}

// CommentsSnapshot implements plan.Consumer.
func (t *tx) CommentsSnapshot(ctx context.Context, taskID string) (plan.Snapshot, error) {
	found := plan.Snapshot{TaskID: taskID}
	if err := t.batch(ctx, query(scanComments(&found), commentsSQL, taskID)); err != nil {
		return plan.Snapshot{}, fmt.Errorf("read plan comments: %w", err)
	}
	return requirePlan(found, nil)
}

func requirePlan(s plan.Snapshot, err error) (plan.Snapshot, error) {
	switch {
	case err != nil:
		return plan.Snapshot{}, err
	case s.PlanID == "":
		return plan.Snapshot{}, plan.ErrNotFound
	}
	return s, nil
}

// CommentCreations implements plan.Tx.
func (t *tx) CommentCreations(ctx context.Context, taskID string, ids []string) (map[string]plan.Creation, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := all[creationRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("task_id = ?", taskID).Where("id IN (?)", bun.List(ids))
	})
	if err != nil {
		return nil, err
	}
	ledger := make(map[string]plan.Creation, len(rows))
	for _, row := range rows {
		ledger[row.ID] = row.Creation
	}
	return ledger, nil
}

// InsertComments implements plan.Tx.
func (t *tx) InsertComments(ctx context.Context, comments []plan.Comment, ledger []plan.Creation) error {
	var stmts []stmt
	for _, l := range ledger {
		stmts = append(stmts, exec(`INSERT INTO task_plan_comment_creates (task_id, id, plan_id, fingerprint)
VALUES ($1, $2, $3, $4)`, l.TaskID, l.ID, l.PlanID, l.Fingerprint))
	}
	for _, c := range comments {
		stmts = append(stmts, exec(`INSERT INTO task_plan_comments
  (task_id, id, plan_id, body, selected_text, anchor_from, anchor_to, version, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			c.TaskID, c.ID, c.PlanID, c.Body, c.SelectedText, c.AnchorFrom, c.AnchorTo, c.Version,
			t.dialect.timeArg(c.CreatedAt), t.dialect.timeArg(c.UpdatedAt)))
	}
	stmts = append(stmts, advanceComments(comments[0].PlanID))
	if err := t.batch(ctx, stmts...); err != nil {
		return fmt.Errorf("insert plan comments: %w", err)
	}
	return nil
}

// UpdateComment implements plan.Tx.
func (t *tx) UpdateComment(ctx context.Context, c plan.Comment) error {
	edit := exec(`UPDATE task_plan_comments SET body = $1, version = $2, updated_at = $3
WHERE task_id = $4 AND plan_id = $5 AND id = $6 AND version = $7`,
		c.Body, c.Version, t.dialect.timeArg(c.UpdatedAt), c.TaskID, c.PlanID, c.ID, c.Version-1)
	edit.affects = 1
	if err := t.batch(ctx, edit, advanceComments(c.PlanID)); err != nil {
		return fmt.Errorf("update plan comment: %w", err)
	}
	return nil
}

// ConsumeComments implements plan.Consumer.
func (t *tx) ConsumeComments(ctx context.Context, comments []plan.Comment) error {
	if err := t.batch(ctx, consumeComments(comments)...); err != nil {
		return fmt.Errorf("consume plan comments: %w", err)
	}
	return nil
}

// consumeComments takes exactly the comments, of one plan and at least one, off
// it (AD-2): one that is not there in its version fails the transaction. It is
// what every way out of a plan uses, an admission's batch included (AD-6).
func consumeComments(comments []plan.Comment) []stmt {
	stmts := make([]stmt, 0, len(comments)+1)
	for _, c := range comments {
		gone := exec("DELETE FROM task_plan_comments WHERE task_id = $1 AND plan_id = $2 AND id = $3 AND version = $4",
			c.TaskID, c.PlanID, c.ID, c.Version)
		gone.affects = 1
		stmts = append(stmts, gone)
	}
	return append(stmts, advanceComments(comments[0].PlanID))
}

// advanceComments adds 1 to the comments revision of a plan (PC-1).
func advanceComments(planID string) stmt {
	next := exec("UPDATE task_plans SET comments_revision = comments_revision + 1 WHERE id = $1", planID)
	next.affects = 1
	return next
}
