package db

import (
	"context"
	"fmt"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
)

// FrameScene implements history.WriteTx. It is one round trip where there are any.
func (t *tx) FrameScene(ctx context.Context, q history.FrameQuery) (s history.FrameScene, err error) {
	d := t.dialect
	messages := messageFacts + allTexts + `, task_id, session_id, deleted_at, request_fingerprint FROM task_session_messages WHERE ` + d.among("id", 1)
	stmts := []stmt{query(func(scan func(...any) error) error {
		m := session.Message{}
		err := scan(&m.ID, &m.Seq, &m.Role, &m.Type, &m.ToolCallID, &m.TurnID, &m.Sanitized,
			scanTime(&m.CreatedAt), scanTime(&m.UpdatedAt),
			&m.Content, &m.Thinking, (*[]byte)(&m.ToolCalls), (*[]byte)(&m.Metadata),
			&m.TaskID, &m.SessionID, scanNullTime(&m.DeletedAt), &m.RequestFingerprint)
		s.Messages = append(s.Messages, m)
		return err
	}, messages, d.textsArg(q.MessageIDs))}
	if len(q.TurnIDs) > 0 {
		turns := `SELECT id FROM task_session_turns WHERE session_id = $1 AND ` + d.among("id", 2)
		stmts = append(stmts, query(func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			s.Turns = append(s.Turns, id)
			return err
		}, turns, q.SessionID, d.textsArg(q.TurnIDs)))
	}
	if err := t.batch(ctx, stmts...); err != nil {
		return history.FrameScene{}, fmt.Errorf("look up what frames meet: %w", err)
	}
	return s, nil
}
