package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

type turnRow struct {
	bun.BaseModel `bun:"table:task_session_turns,alias:tu"`
	session.Turn
}

func (r turnRow) turn() session.Turn { return r.Turn }

// Turns implements session.Store.
func (s sessionStore) Turns(ctx context.Context, sessionID string, after *domain.Position, limit int) (turns []session.Turn, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[turnRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			return listBehind(q.Where("session_id = ?", sessionID), "started_at", after, limit)
		})
		turns = each(rows, turnRow.turn)
		return err
	})
	return turns, err
}

// InsertTurn implements session.WriteTx.
func (t *tx) InsertTurn(ctx context.Context, made session.Turn) (bool, error) {
	return insert(ctx, t.querier, &turnRow{Turn: made})
}

// Turn implements session.WriteTx.
func (t *tx) Turn(ctx context.Context, id string) (session.Turn, error) {
	row, err := one[turnRow](ctx, t.querier, session.ErrTurnNotFound, "id = ?", id)
	return row.Turn, err
}

// UpdateTurn implements session.WriteTx.
func (t *tx) UpdateTurn(ctx context.Context, changed session.Turn) error {
	return update(ctx, t.querier, &turnRow{Turn: changed}, "state", "ended_at")
}

// DeleteTurn implements session.WriteTx.
func (t *tx) DeleteTurn(ctx context.Context, id string) error {
	if _, err := t.NewDelete().Table("task_session_turns").Where("id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("delete turn: %w", err)
	}
	return nil
}

// RunningTurns implements session.WriteTx.
func (t *tx) RunningTurns(ctx context.Context, sessionID string) (int, error) {
	n, err := t.NewSelect().Table("task_session_turns").
		Where("session_id = ?", sessionID).Where("state = ?", session.TurnRunning).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count running turns: %w", err)
	}
	return int(n), nil
}

// PriorTurns implements session.WriteTx.
func (t *tx) PriorTurns(ctx context.Context, ids []string) ([]session.Turn, error) {
	rows, err := all[turnRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("id IN (?)", bun.List(ids))
	})
	return each(rows, turnRow.turn), err
}

// InsertTurns implements session.WriteTx.
func (t *tx) InsertTurns(ctx context.Context, turns []session.Turn) (int, error) {
	rows := each(turns, func(turn session.Turn) turnRow { return turnRow{Turn: turn} })
	n, err := affected(t.NewInsert().Model(&rows).On("CONFLICT DO NOTHING").Exec(ctx))
	if err != nil {
		return 0, fmt.Errorf("insert turns: %w", err)
	}
	return n, nil
}
