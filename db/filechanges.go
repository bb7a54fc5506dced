package db

import (
	"context"

	"github.com/uptrace/bun"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
)

// History is the store of transcripts and file changes.
func (s *Store) History() history.Store { return historyStore{s} }

type historyStore struct{ *Store }

type fileChangeRow struct {
	bun.BaseModel `bun:"table:message_file_changes,alias:c"`
	history.FileChange
}

// InTx implements history.Store.
func (s historyStore) InTx(ctx context.Context, taskID string, fn func(context.Context, history.WriteTx) error) error {
	return s.inTx(ctx, taskID, func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}

// InRead implements history.Store.
func (s historyStore) InRead(ctx context.Context, fn func(context.Context, history.ReadTx) error) error {
	return s.inRead(ctx, func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}

// FileChange implements history.Store.
func (s historyStore) FileChange(ctx context.Context, id string) (c history.FileChange, of *session.Session, err error) {
	err = s.inRead(ctx, func(ctx context.Context, t *tx) error {
		row, err := one[fileChangeRow](ctx, t.querier, history.ErrFileChangeNotFound, "id = ?", id)
		if err != nil {
			return err
		}
		c = row.FileChange
		rows, err := all[sessionRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where("id = ?", c.SessionID)
		})
		of = nil
		if len(rows) > 0 {
			of = &rows[0].Session
		}
		return err
	})
	return c, of, err
}

// Texts implements history.ReadTx.
func (t *tx) Texts(ctx context.Context, changeIDs []string) (map[string]history.Texts, error) {
	texts := make(map[string]history.Texts, len(changeIDs))
	err := t.batch(ctx, query(func(scan func(...any) error) error {
		var id string
		var of history.Texts
		err := scan(&id, &of.Before, &of.After, &of.Patch)
		texts[id] = of
		return err
	}, "SELECT id, before_content, after_content, patch FROM message_file_changes WHERE "+t.dialect.among("id", 1),
		t.dialect.textsArg(changeIDs)))
	return texts, err
}
