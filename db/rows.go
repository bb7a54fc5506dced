package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain"
)

// one reads the single row of M's table that where selects, or fails with missing.
func one[M any](ctx context.Context, q querier, missing error, where string, args ...any) (M, error) {
	var m M
	err := q.NewSelect().Model(&m).Where(where, args...).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return m, missing
	case err != nil:
		return m, fmt.Errorf("read %T: %w", m, err)
	}
	return m, nil
}

// insert adds a row and reports whether its keys were free.
func insert(ctx context.Context, q querier, row any) (inserted bool, err error) {
	n, err := affected(q.NewInsert().Model(row).On("CONFLICT DO NOTHING").Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("insert %T: %w", row, err)
	}
	return n == 1, nil
}

// affected is how many rows a statement has changed.
func affected(res sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// update writes the named columns of row, which its primary key finds.
func update(ctx context.Context, q querier, row any, columns ...string) error {
	if _, err := q.NewUpdate().Model(row).Column(columns...).WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("update %T: %w", row, err)
	}
	return nil
}

// listBehind orders a list by the time in column and id, and starts it behind
// after when that is not nil.
func listBehind(q *bun.SelectQuery, column string, after *domain.Position, limit int) *bun.SelectQuery {
	q = q.OrderExpr("?, id", bun.Ident(column)).Limit(int64(limit))
	if after != nil {
		q = q.Where("(?, id) > (?, ?)", bun.Ident(column), after.At, after.ID)
	}
	return q
}

// all reads the rows that q selects.
func all[M any](ctx context.Context, q querier, narrow func(*bun.SelectQuery) *bun.SelectQuery) ([]M, error) {
	var rows []M
	if err := narrow(q.NewSelect().Model(&rows)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("list %T: %w", *new(M), err)
	}
	return rows, nil
}

// each is what of returns for every row.
func each[M, T any](rows []M, of func(M) T) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = of(row)
	}
	return out
}

// orMissing is missing where err says that there is no row, nil for nil, and
// otherwise err with what was being done.
func orMissing(err, missing error, doing string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return missing
	}
	return fmt.Errorf("%s: %w", doing, err)
}
