package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

type delegationRow struct {
	bun.BaseModel `bun:"table:task_session_delegations,alias:d"`
	MessageID     string `bun:",pk"`
	ToolCallID    string `bun:",pk"`
	Ordinal       *int
	SessionID     string
	MessageSeq    int64
}

func (r delegationRow) delegation() subagent.Delegation {
	return subagent.Delegation{
		SessionID: r.SessionID, MessageID: r.MessageID, MessageSeq: r.MessageSeq, ToolCallID: r.ToolCallID, Ordinal: r.Ordinal,
	}
}

var insertDelegations = newBulk("task_session_delegations", "message_id tool_call_id ordinal session_id message_seq", "ON CONFLICT DO NOTHING")

// InsertDelegations implements subagent.Binder.
func (t *tx) InsertDelegations(ctx context.Context, ds []subagent.Delegation) error {
	rows := each(ds, func(d subagent.Delegation) []any {
		return []any{d.MessageID, d.ToolCallID, d.Ordinal, d.SessionID, d.MessageSeq}
	})
	if err := t.batch(ctx, insertDelegations.stmts(rows, nil)...); err != nil {
		return fmt.Errorf("insert delegations: %w", err)
	}
	return nil
}

// ExecutionsOf implements subagent.Binder. Those that wait and those that are bound are
// found by an index each, without a look at the others of the session: asked with OR,
// or for an order, SQLite goes through all of them.
func (t *tx) ExecutionsOf(ctx context.Context, sessionID string, ds []subagent.Delegation) ([]subagent.Execution, error) {
	calls := each(ds, func(d subagent.Delegation) string { return d.ToolCallID })
	messages := each(ds, func(d subagent.Delegation) string { return d.MessageID })
	seqs := each(ds, func(d subagent.Delegation) int64 { return d.MessageSeq })
	rows, err := all[executionRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("parent_session_id = ? AND parent_message_id IS NULL AND parent_tool_call_id IN (?)", sessionID, bun.List(calls)).
			UnionAll(t.NewSelect().Model((*executionRow)(nil)).
				Where("parent_session_id = ? AND parent_message_seq IN (?)", sessionID, bun.List(seqs)).
				Where("parent_message_id IN (?) AND parent_tool_call_id IN (?)", bun.List(messages), bun.List(calls)))
	})
	slices.SortFunc(rows, func(a, b executionRow) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return each(rows, executionRow.execution), err
}

// BindExecutions implements subagent.Binder. It is one statement for all of them.
func (t *tx) BindExecutions(ctx context.Context, es []subagent.Execution) error {
	if len(es) == 0 {
		return nil
	}
	args := []any{es[0].UpdatedAt}
	for _, e := range es {
		args = append(args, e.ID, e.ParentMessageID, e.ParentMessageSeq, e.ParentCallOrdinal)
	}
	const value = "(?, ?, CAST(? AS bigint), CAST(? AS integer))"
	_, err := t.NewRaw("UPDATE subagent_executions SET updated_at = ?, parent_message_id = v.column2,"+
		" parent_message_seq = v.column3, parent_call_ordinal = v.column4"+
		" FROM (VALUES "+value+strings.Repeat(", "+value, len(es)-1)+") AS v"+
		" WHERE subagent_executions.id = v.column1", args...).Exec(ctx)
	if err != nil {
		return fmt.Errorf("bind executions: %w", err)
	}
	return t.stampExecutions(ctx, each(es, func(e subagent.Execution) string { return e.ID })...)
}

// Delegation implements subagent.ExecutionTx.
func (t *tx) Delegation(ctx context.Context, sessionID, messageID, toolCallID string) (subagent.Delegation, error) {
	d := subagent.Delegation{SessionID: sessionID, MessageID: messageID, ToolCallID: toolCallID}
	err := t.NewSelect().TableExpr("task_session_messages AS m").
		Join("LEFT JOIN task_session_delegations AS d ON d.message_id = m.id AND d.tool_call_id = ?", toolCallID).
		ColumnExpr("m.seq, d.ordinal").
		Where("m.id = ?", messageID).Where("m.session_id = ?", sessionID).Where("m.deleted_at IS NULL").
		Scan(ctx, &d.MessageSeq, &d.Ordinal)
	return d, orMissing(err, session.ErrMessageNotFound, "look up delegating message")
}

// FreeDelegation implements subagent.ExecutionTx.
func (t *tx) FreeDelegation(ctx context.Context, sessionID, toolCallID string) (*subagent.Delegation, error) {
	var row delegationRow
	round := t.NewSelect().TableExpr("task_session_messages").Column("seq").
		Where("session_id = ?", sessionID).Where("role = ?", session.RoleUser).Where("deleted_at IS NULL").
		OrderExpr("seq DESC").Limit(1)
	bound := t.NewSelect().TableExpr("subagent_executions AS e").ColumnExpr("1").
		Where("e.parent_session_id = d.session_id").Where("e.parent_message_seq = d.message_seq").
		Where("e.parent_tool_call_id = d.tool_call_id")
	err := t.NewSelect().Model(&row).
		Join("JOIN task_session_messages AS m ON m.id = d.message_id").
		Where("d.session_id = ?", sessionID).Where("d.tool_call_id = ?", toolCallID).Where("m.deleted_at IS NULL").
		Where("d.message_seq >= COALESCE((?), 0)", round).
		Where("NOT EXISTS (?)", bound).
		OrderExpr("d.message_seq DESC").Limit(1).Scan(ctx)
	err = orMissing(err, errNoRow, "look up free delegation")
	if errors.Is(err, errNoRow) {
		return nil, nil //nolint:nilnil // none yet is no failure
	}
	if err != nil {
		return nil, err
	}
	d := row.delegation()
	return &d, nil
}
