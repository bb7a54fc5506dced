package db

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// Access is the store of workspaces and tokens.
func (s *Store) Access() access.Store { return accessStore{s} }

type accessStore struct{ *Store }

type workspaceRow struct {
	bun.BaseModel `bun:"table:workspaces,alias:w"`
	access.Workspace
}

func (r workspaceRow) workspace() access.Workspace { return r.Workspace }

type tokenRow struct {
	bun.BaseModel `bun:"table:tokens,alias:tok"`
	access.Token
}

func (r tokenRow) token() access.Token { return r.Token }

// InTx implements access.Store.
func (s accessStore) InTx(ctx context.Context, fn func(context.Context, access.Tx) error) error {
	return s.inTx(ctx, "", func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}

// Workspace implements access.Store.
func (s accessStore) Workspace(ctx context.Context, id string) (access.Workspace, error) {
	return s.workspace(ctx, "id = ?", id)
}

// WorkspaceNamed implements access.Store.
func (s accessStore) WorkspaceNamed(ctx context.Context, name string) (access.Workspace, error) {
	return s.workspace(ctx, "name = ?", name)
}

func (s accessStore) workspace(ctx context.Context, where, value string) (w access.Workspace, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		row, err := one[workspaceRow](ctx, q, access.ErrWorkspaceNotFound, where, value)
		w = row.Workspace
		return err
	})
	return w, err
}

// Workspaces implements access.Store.
func (s accessStore) Workspaces(ctx context.Context, after *domain.Position, limit int) (workspaces []access.Workspace, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[workspaceRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			return listBehind(q, "created_at", after, limit)
		})
		workspaces = each(rows, workspaceRow.workspace)
		return err
	})
	return workspaces, err
}

// Tokens implements access.Store.
func (s accessStore) Tokens(ctx context.Context, after *domain.Position, limit int) (tokens []access.Token, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[tokenRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			return listBehind(q, "created_at", after, limit)
		})
		tokens = each(rows, tokenRow.token)
		return err
	})
	return tokens, err
}

// TokenByHash implements access.Store.
func (s accessStore) TokenByHash(ctx context.Context, hash string) (t access.Token, now time.Time, err error) {
	return s.token(ctx, "hash = ?", hash)
}

// Token implements access.Store.
func (s accessStore) Token(ctx context.Context, id string) (t access.Token, now time.Time, err error) {
	return s.token(ctx, "id = ?", id)
}

// token reads the token that where selects, and the database's clock.
func (s accessStore) token(ctx context.Context, where string, arg any) (t access.Token, now time.Time, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		var row struct {
			tokenRow `bun:",extend"`
			Now      time.Time
		}
		err := q.NewSelect().Model(&row).ColumnExpr("tok.*").ColumnExpr("? AS now", s.dialect.now()).
			Where(where, arg).Scan(ctx)
		t, now = row.Token, row.Now.UTC()
		return orMissing(err, access.ErrTokenNotFound, "read token")
	})
	return t, now, err
}

// InsertWorkspace implements access.Tx.
func (t *tx) InsertWorkspace(ctx context.Context, w access.Workspace) (bool, error) {
	return insert(ctx, t.querier, &workspaceRow{Workspace: w})
}

// InsertToken implements access.Tx.
func (t *tx) InsertToken(ctx context.Context, made access.Token) error {
	if _, err := t.NewInsert().Model(&tokenRow{Token: made}).Exec(ctx); err != nil {
		return fmt.Errorf("insert token: %w", err)
	}
	return nil
}

// RevokeToken implements access.Tx.
func (t *tx) RevokeToken(ctx context.Context, id string, at time.Time) (access.Token, error) {
	var row tokenRow
	err := t.NewUpdate().Model(&row).Set("revoked_at = coalesce(revoked_at, ?)", at).
		Where("id = ?", id).Returning("*").Scan(ctx)
	return row.Token, orMissing(err, access.ErrTokenNotFound, "revoke token")
}
