package db

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// Watch implements prompt.Watcher.
func (s promptStore) Watch(ctx context.Context, taskID, sessionID string) (prompt.Watch, error) {
	var row struct {
		TaskSeq, QueueSeq int64
		Due               bool
	}
	err := s.read(ctx, func(ctx context.Context, q querier) error {
		err := q.NewSelect().TableExpr("task_sessions AS s").Join("JOIN tasks AS t ON t.id = s.task_id").
			ColumnExpr("t.task_seq, s.queue_seq").
			ColumnExpr(`EXISTS (SELECT 1 FROM deliveries AS d
				WHERE d.session_id = s.id AND d.state = 'reserved' AND d.lease_expires_at <= ?) AS due`, s.dialect.now()).
			Where("s.id = ? AND s.task_id = ?", sessionID, taskID).Scan(ctx, &row)
		return orMissing(err, session.ErrNotFound, "watch session")
	})
	return prompt.Watch{Stamp: max(row.TaskSeq, row.QueueSeq), Due: row.Due}, err
}

// Now implements prompt.Overseer.
func (s promptStore) Now(ctx context.Context) (now time.Time, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) (err error) {
		now, err = clock(ctx, q, s.dialect)
		return err
	})
	return now, err
}

// overdueRow is of a delivery what [prompt.Overdue] needs.
type overdueRow struct {
	bun.BaseModel  `bun:"table:deliveries,alias:d"`
	ID             string
	TaskID         string
	State          prompt.State
	TokenHash      *string
	LeaseExpiresAt time.Time
	AttemptedAt    time.Time
}

func (r overdueRow) overdue() prompt.Overdue {
	o := prompt.Overdue{TaskID: r.TaskID, DeliveryID: r.ID, State: r.State, TokenHash: r.TokenHash, At: r.LeaseExpiresAt}
	if r.State == prompt.StateAttempted {
		o.At = r.AttemptedAt
	}
	o.At = o.At.UTC()
	return o
}

// Overdue implements prompt.Overseer. Each state has a partial index by its time, which
// spells the state as it is spelled here. The time is given: the index serves no clock
// that moves while it is read. Sources are not looked for: they follow their combination.
func (s promptStore) Overdue(ctx context.Context, state prompt.State, before time.Time, after *domain.Position, limit int) (found []prompt.Overdue, err error) {
	where, column := "state = 'reserved'", "lease_expires_at"
	if state == prompt.StateAttempted {
		where, column = "state = 'attempted'", "attempted_at"
	}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[overdueRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			return listBehind(q.Where(where).Where("combined_into IS NULL").Where("? <= ?", bun.Ident(column), before), column, after, limit)
		})
		found = each(rows, overdueRow.overdue)
		return err
	})
	return found, err
}

// Backlog implements prompt.Overseer. One partial index holds all it reads.
func (s promptStore) Backlog(ctx context.Context) (prompt.Backlog, error) {
	var row struct {
		Unfinished int64
		Oldest     time.Time
		Now        time.Time
	}
	err := s.read(ctx, func(ctx context.Context, q querier) error {
		return q.NewSelect().TableExpr("deliveries AS d").
			ColumnExpr("count(*) AS unfinished, min(CASE WHEN state = 'pending' THEN created_at END) AS oldest, ? AS now", s.dialect.now()).
			Where(unfinishedSQL).Scan(ctx, &row)
	})
	b := prompt.Backlog{Unfinished: row.Unfinished}
	if !row.Oldest.IsZero() {
		b.OldestPending = max(row.Now.Sub(row.Oldest), 0)
	}
	return b, err
}
