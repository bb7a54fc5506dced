package db

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"gatehouse/domain/plan"
)

// Plans is the store of plans and pending comments.
func (s *Store) Plans() plan.Store { return planStore{s} }

type planStore struct{ *Store }

type planRow struct {
	bun.BaseModel `bun:"table:task_plans,alias:p"`
	plan.Plan
}

type revisionRow struct {
	bun.BaseModel `bun:"table:task_plan_revisions,alias:r"`
	plan.Revision
}

// InTx implements plan.Store.
func (s planStore) InTx(ctx context.Context, taskID string, fn func(context.Context, plan.Tx) error) error {
	return s.inTx(ctx, taskID, func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}

// Plan implements plan.Store.
func (s planStore) Plan(ctx context.Context, taskID string) (p plan.Plan, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		row, err := one[planRow](ctx, q, plan.ErrNotFound, "task_id = ?", taskID)
		p = row.Plan
		return err
	})
	return p, err
}

// PlanRevision implements plan.Store.
func (s planStore) PlanRevision(ctx context.Context, taskID string, version int64) (r plan.Revision, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		r, err = planRevision(ctx, q, taskID, version)
		return err
	})
	return r, err
}

// PlanRevisions implements plan.Store.
func (s planStore) PlanRevisions(ctx context.Context, taskID string, before int64, limit int) (items []plan.RevisionInfo, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		err := q.NewSelect().Model((*revisionRow)(nil)).
			Column("r.plan_id", "r.version", "r.bytes", "r.created_at").
			Join("JOIN task_plans AS p ON p.id = r.plan_id").
			Where("p.task_id = ?", taskID).Where("r.version < ?", before).
			OrderExpr("r.version DESC").Limit(int64(limit)).
			Scan(ctx, &items)
		if err != nil {
			return fmt.Errorf("list plan revisions: %w", err)
		}
		return nil
	})
	return items, err
}

// Plan implements plan.Tx.
func (t *tx) Plan(ctx context.Context, taskID string) (plan.Plan, error) {
	row, err := one[planRow](ctx, t.querier, plan.ErrNotFound, "task_id = ?", taskID)
	return row.Plan, err
}

// PlanRevision implements plan.Tx.
func (t *tx) PlanRevision(ctx context.Context, taskID string, version int64) (plan.Revision, error) {
	return planRevision(ctx, t.querier, taskID, version)
}

// planRevision begins at the plan, so that one statement tells a task without a
// plan from a plan without the version.
func planRevision(ctx context.Context, q querier, taskID string, version int64) (plan.Revision, error) {
	var row struct {
		PlanID    string
		Version   *int64
		Content   *string
		Bytes     *int64
		CreatedAt *time.Time
	}
	err := q.NewSelect().TableExpr("task_plans AS p").
		ColumnExpr("p.id AS plan_id, r.version, r.content, r.bytes, r.created_at").
		Join("LEFT JOIN task_plan_revisions AS r ON r.plan_id = p.id AND r.version = ?", version).
		Where("p.task_id = ?", taskID).
		Scan(ctx, &row)
	switch {
	case err != nil:
		return plan.Revision{}, orMissing(err, plan.ErrNotFound, "read plan revision")
	case row.Version == nil:
		return plan.Revision{}, plan.ErrRevisionNotFound
	}
	return plan.Revision{
		PlanID:    row.PlanID,
		Version:   *row.Version,
		Content:   *row.Content,
		Bytes:     *row.Bytes,
		CreatedAt: row.CreatedAt.UTC(),
	}, nil
}

// SavePlan implements plan.Tx.
func (t *tx) SavePlan(ctx context.Context, p plan.Plan) error {
	_, err := t.NewInsert().Model(&planRow{Plan: p}).
		On("CONFLICT (id) DO UPDATE").
		Set("content = EXCLUDED.content").
		Set("version = EXCLUDED.version").
		Set("updated_at = EXCLUDED.updated_at").
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("save plan: %w", err)
	}
	if _, err := t.NewInsert().Model(&revisionRow{Revision: p.Revision()}).Exec(ctx); err != nil {
		return fmt.Errorf("keep plan revision: %w", err)
	}
	return nil
}

// DeletePlan implements plan.Tx. The cascade is written out, so that it is the
// same on every database.
func (t *tx) DeletePlan(ctx context.Context, p plan.Plan) error {
	gone := exec("DELETE FROM task_plans WHERE id = $1", p.ID)
	gone.affects = 1
	err := t.batch(ctx,
		exec("DELETE FROM task_plan_comments WHERE plan_id = $1", p.ID),
		exec("DELETE FROM task_plan_revisions WHERE plan_id = $1", p.ID),
		gone,
	)
	if err != nil {
		return fmt.Errorf("delete plan: %w", err)
	}
	return nil
}
