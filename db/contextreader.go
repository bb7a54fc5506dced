package db

import (
	"context"
	"fmt"
	"math/big"

	"github.com/uptrace/bun"

	"gatehouse/domain/subagent"
)

// ContextReader is the store that reads what is known of the invocations of subagents.
func (s *Store) ContextReader() subagent.ContextReader { return contextStore{s} }

type contextRow struct {
	bun.BaseModel `bun:"table:task_session_subagents,alias:c"`
	subagent.Context
}

func (r contextRow) context() subagent.Context { return r.Context }

// whoseContexts narrows a query to a filter.
func whoseContexts(q *bun.SelectQuery, f subagent.ContextFilter) *bun.SelectQuery {
	q = q.Where("task_session_id = ?", f.SessionID)
	if f.TurnID != nil {
		q = q.Where("turn_id = ?", *f.TurnID)
	}
	return q
}

// Contexts implements subagent.ContextReader. Texts are ordered by their bytes: on
// PostgreSQL the columns have COLLATE "C" (SC-11).
func (s contextStore) Contexts(ctx context.Context, f subagent.ContextFilter, after *subagent.ContextPosition, limit int) (found []subagent.Context, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[contextRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			if after != nil {
				q = q.Where("(observed_at, tool_call_id, agent_execution_id) > (?, ?, ?)", after.ObservedAt, after.ToolCallID, after.ExecutionID)
			}
			return whoseContexts(q, f).OrderExpr("observed_at, tool_call_id, agent_execution_id").Limit(int64(limit))
		})
		found = each(rows, contextRow.context)
		return err
	})
	return found, err
}

// sumRadix is where the sums of a metric are split: one of all values may not fit 64
// bits, and then SQLite fails.
const sumRadix = 1 << 32

// ContextSummary implements subagent.ContextReader.
func (s contextStore) ContextSummary(ctx context.Context, f subagent.ContextFilter) (sum subagent.ContextSummary, err error) {
	var high, low [3]int64
	sums := [3]*subagent.Sum{&sum.TotalTokens, &sum.ToolUses, &sum.DurationMS}
	dest := []any{&sum.Invocations, &sum.Settled}
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		query := whoseContexts(q.NewSelect().Table("task_session_subagents").ColumnExpr("COUNT(*), COUNT(settled_at)"), f)
		for i, column := range []string{"total_tokens", "tool_use_count", "duration_ms"} {
			metric := bun.Ident(column)
			query = query.ColumnExpr("COUNT(?)", metric).
				ColumnExpr("CAST(COALESCE(SUM(? / ?), 0) AS bigint)", metric, int64(sumRadix)).
				ColumnExpr("CAST(COALESCE(SUM(? % ?), 0) AS bigint)", metric, int64(sumRadix))
			dest = append(dest, &sums[i].Reported, &high[i], &low[i])
		}
		return query.Scan(ctx, dest...)
	})
	if err != nil {
		return subagent.ContextSummary{}, fmt.Errorf("add up contexts: %w", err)
	}
	for i, of := range sums {
		if of.Reported > 0 {
			of.Total = new(big.Int).Mul(big.NewInt(high[i]), big.NewInt(sumRadix))
			of.Total.Add(of.Total, big.NewInt(low[i]))
		}
	}
	return sum, nil
}
