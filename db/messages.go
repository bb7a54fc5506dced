package db

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
)

type messageRow struct {
	bun.BaseModel `bun:"table:task_session_messages,alias:m"`
	session.Message
}

// PriorMessages implements history.WriteTx.
func (t *tx) PriorMessages(ctx context.Context, ids []string) ([]history.PriorMessage, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var prior []history.PriorMessage
	err := t.NewSelect().Table("task_session_messages").Column("id", "session_id", "seq", "request_fingerprint").
		Where("id IN (?)", bun.List(ids)).Scan(ctx, &prior)
	if err != nil {
		return nil, fmt.Errorf("look up messages: %w", err)
	}
	return prior, nil
}

// CountTurns implements history.WriteTx.
func (t *tx) CountTurns(ctx context.Context, sessionID string, ids []string) (int, error) {
	n, err := t.NewSelect().Table("task_session_turns").
		Where("session_id = ?", sessionID).Where("id IN (?)", bun.List(ids)).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count turns: %w", err)
	}
	return int(n), nil
}

// RootWorkspace implements history.WriteTx.
func (t *tx) RootWorkspace(ctx context.Context, sessionID string) (string, error) {
	var workspaces []string
	err := t.NewRaw(`WITH RECURSIVE up (id, parent_session_id, kind, workspace_path) AS (
  SELECT id, parent_session_id, kind, workspace_path FROM task_sessions WHERE id = ?
  UNION
  SELECT s.id, s.parent_session_id, s.kind, s.workspace_path
  FROM up JOIN task_sessions AS s ON s.id = up.parent_session_id
)
SELECT COALESCE(workspace_path, '') FROM up WHERE kind = ?`, sessionID, session.KindMain).Scan(ctx, &workspaces)
	if err != nil {
		return "", fmt.Errorf("look up workspace: %w", err)
	}
	if len(workspaces) == 0 {
		return "", nil
	}
	return workspaces[0], nil
}

var appendMessages = newBulk("task_session_messages",
	`id task_id session_id seq role type content thinking tool_calls tool_call_id turn_id
	metadata sanitized request_fingerprint created_at updated_at`, "ON CONFLICT (id) DO NOTHING")

const advanceMessagesSQL = `UPDATE task_sessions SET last_message_seq = $1, updated_at = $2 WHERE id = $3`

func (t *tx) messageArgs(m session.Message) []any {
	return []any{
		m.ID, m.TaskID, m.SessionID, m.Seq, string(m.Role), string(m.Type), m.Content, m.Thinking, string(m.ToolCalls),
		m.ToolCallID, m.TurnID, string(m.Metadata), m.Sanitized, m.RequestFingerprint,
		t.dialect.timeArg(m.CreatedAt), t.dialect.timeArg(m.UpdatedAt),
	}
}

// AppendMessages implements history.WriteTx. It is two round trips where there are
// any, whatever the number of messages and changes.
func (t *tx) AppendMessages(ctx context.Context, sessionID string, messages []session.Message, changes []history.FileChange) error {
	inserted := int64(0)
	stmts := appendMessages.stmts(each(messages, t.messageArgs), &inserted)
	last := messages[len(messages)-1]
	stmts = append(stmts, exec(advanceMessagesSQL, last.Seq, t.dialect.timeArg(last.UpdatedAt), sessionID))
	if err := t.batch(ctx, stmts...); err != nil {
		return fmt.Errorf("insert messages: %w", err)
	}
	if int(inserted) != len(messages) {
		return session.ErrMessageConflict
	}
	if len(changes) > 0 {
		rows := each(changes, func(c history.FileChange) fileChangeRow { return fileChangeRow{FileChange: c} })
		if _, err := t.NewInsert().Model(&rows).Exec(ctx); err != nil {
			return fmt.Errorf("insert file changes: %w", err)
		}
	}
	return nil
}

// Message implements history.WriteTx.
func (t *tx) Message(ctx context.Context, id string) (session.Message, error) {
	row, err := one[messageRow](ctx, t.querier, session.ErrMessageNotFound, "id = ?", id)
	return row.Message, err
}

const updateMessageSQL = `UPDATE task_session_messages
SET content = $1, thinking = $2, turn_id = $3, metadata = $4, sanitized = $5, request_fingerprint = $6, updated_at = $7
WHERE id = $8`

// UpdateMessages implements history.WriteTx.
func (t *tx) UpdateMessages(ctx context.Context, messages []session.Message) error {
	err := t.batch(ctx, each(messages, func(m session.Message) stmt {
		return exec(updateMessageSQL, m.Content, m.Thinking, m.TurnID, string(m.Metadata), m.Sanitized,
			m.RequestFingerprint, t.dialect.timeArg(m.UpdatedAt), m.ID)
	})...)
	if err != nil {
		return fmt.Errorf("update messages: %w", err)
	}
	return nil
}

// DeleteMessages implements history.WriteTx.
func (t *tx) DeleteMessages(ctx context.Context, sessionID string, fromSeq int64, at time.Time) (int, error) {
	n, err := affected(t.NewUpdate().Table("task_session_messages").
		Set("deleted_at = ?", at).Set("updated_at = ?", at).
		Where("session_id = ?", sessionID).Where("seq >= ?", fromSeq).Where("deleted_at IS NULL").Exec(ctx))
	if err != nil {
		return 0, fmt.Errorf("delete messages: %w", err)
	}
	return n, nil
}
