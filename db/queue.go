package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// Queue implements prompt.Store.
func (s promptStore) Queue(ctx context.Context, taskID, sessionID string) (q prompt.Queue, err error) {
	err = s.inRead(ctx, func(ctx context.Context, t *tx) error {
		ses, err := one[sessionRow](ctx, t.querier, session.ErrNotFound, "id = ? AND task_id = ?", sessionID, taskID)
		if err != nil {
			return err
		}
		entries, err := unfinished(ctx, t.querier, sessionID)
		q = prompt.QueueOf(ses.Session, entries)
		return err
	})
	return q, err
}

// unfinished reads what a session is owed, in order.
func unfinished(ctx context.Context, q querier, sessionID string) ([]prompt.Delivery, error) {
	rows, err := all[deliveryRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("session_id = ? AND "+unfinishedSQL, sessionID).Order("position")
	})
	return each(rows, deliveryRow.delivery), err
}

// Unfinished implements prompt.Entries.
func (t promptTx) Unfinished(ctx context.Context, sessionID string) ([]prompt.Delivery, error) {
	return unfinished(ctx, t.querier, sessionID)
}

// InsertDelivery implements prompt.Entries.
func (t promptTx) InsertDelivery(ctx context.Context, d prompt.Delivery) error {
	if _, err := t.NewInsert().Model(&deliveryRow{Delivery: d}).Exec(ctx); err != nil {
		return fmt.Errorf("insert delivery: %w", err)
	}
	return nil
}

const (
	rewriteEntrySQL = `UPDATE deliveries SET content = $1, version = $2, updated_at = $3
WHERE id = $4 AND state = 'pending'`

	placeEntrySQL = `UPDATE deliveries SET position = $1, updated_at = $2
WHERE id = $3 AND state = 'pending'`
)

// RewriteEntry implements prompt.Entries.
func (t promptTx) RewriteEntry(ctx context.Context, d prompt.Delivery) error {
	st := exec(rewriteEntrySQL, d.Content, d.Version, t.dialect.timeArg(d.UpdatedAt), d.ID)
	st.affects = 1
	if err := t.batch(ctx, st); err != nil {
		return fmt.Errorf("rewrite entry: %w", err)
	}
	return nil
}

// PlaceEntries implements prompt.Entries.
func (t promptTx) PlaceEntries(ctx context.Context, entries []prompt.Delivery) error {
	stmts := each(entries, func(d prompt.Delivery) stmt {
		st := exec(placeEntrySQL, d.Position, t.dialect.timeArg(d.UpdatedAt), d.ID)
		st.affects = 1
		return st
	})
	if err := t.batch(ctx, stmts...); err != nil {
		return fmt.Errorf("place entries: %w", err)
	}
	return nil
}
