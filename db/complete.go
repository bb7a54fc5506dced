package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
)

// MessageChanges implements history.WriteTx.
func (t *tx) MessageChanges(ctx context.Context, sessionID string, seq int64) ([]history.FileChange, error) {
	rows, err := all[fileChangeRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("session_id = ?", sessionID).Where("message_seq = ?", seq).Order("ordinal")
	})
	return each(rows, func(r fileChangeRow) history.FileChange { return r.FileChange }), err
}

// CompleteMessage implements history.WriteTx.
func (t *tx) CompleteMessage(ctx context.Context, grown session.Message, further []history.FileChange) error {
	err := update(ctx, t.querier, &messageRow{Message: grown},
		"content", "thinking", "tool_calls", "metadata", "sanitized", "request_fingerprint", "updated_at")
	if err != nil || len(further) == 0 {
		return err
	}
	rows := each(further, func(c history.FileChange) fileChangeRow { return fileChangeRow{FileChange: c} })
	if _, err := t.NewInsert().Model(&rows).Exec(ctx); err != nil {
		return fmt.Errorf("insert file changes: %w", err)
	}
	return nil
}
