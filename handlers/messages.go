package handlers

import (
	"context"

	"github.com/oapi-codegen/nullable"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/gen"
)

func newMessage(m gen.MessageIn) history.NewMessage {
	return history.NewMessage{
		ID:          orZero(optionalID(m.ID)),
		Role:        session.Role(m.Role),
		Type:        session.MessageType(orZero(m.Type)),
		Content:     orZero(m.Content),
		Thinking:    m.Thinking,
		ToolCalls:   each(m.ToolCalls, toolCallOf),
		ToolCallID:  m.ToolCallID,
		TurnID:      optionalID(m.TurnID),
		Metadata:    m.Metadata,
		CreatedAt:   timeOf(m.CreatedAt),
		FileChanges: each(m.FileChanges, reportedChange),
	}
}

func toolCallOf(c gen.ToolCall) session.ToolCall {
	return session.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Summary: c.Summary}
}

func toolCallBody(c session.ToolCall) gen.ToolCall {
	return gen.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Summary: c.Summary}
}

func reportedChange(c gen.FileChangeIn) history.ReportedChange {
	return history.ReportedChange{
		Path:          c.Path,
		OldPath:       valueOf(c.OldPath),
		ChangeType:    history.ChangeType(c.ChangeType),
		BeforeContent: valueOf(c.BeforeContent),
		AfterContent:  valueOf(c.AfterContent),
		Patch:         valueOf(c.Patch),
		LinesAdded:    valueOf(c.LinesAdded),
		LinesDeleted:  valueOf(c.LinesDeleted),
		ToolCallID:    c.ToolCallID,
	}
}

// valueOf is a member of a request, nil when it is null or absent.
func valueOf[T any](n nullable.Nullable[T]) *T {
	v, err := n.Get()
	if err != nil {
		return nil
	}
	return &v
}

func messageBody(m session.Message) gen.Message {
	calls, _ := m.Calls() // nobody but us writes them
	return gen.Message{
		ID: m.ID, SessionID: m.SessionID, Seq: m.Seq, Role: gen.MessageRole(m.Role), Type: gen.MessageType(m.Type),
		Content: m.Content, Thinking: nullOr(m.Thinking), ToolCalls: each(calls, toolCallBody), ToolCallID: nullOr(m.ToolCallID),
		TurnID: nullOr(m.TurnID), Metadata: m.Metadata, Sanitized: m.Sanitized,
		CreatedAt: at(m.CreatedAt), UpdatedAt: at(m.UpdatedAt),
	}
}

func appendedBody(a history.Appended) gen.AppendedMessage {
	return gen.AppendedMessage{ID: a.ID, Seq: a.Seq, Status: gen.AppendStatus(a.Status)}
}

// AppendMessages implements POST /v1/sessions/{session_id}/messages.
func (a *API) AppendMessages(ctx context.Context, r gen.AppendMessagesRequestObject) (gen.AppendMessagesResponseObject, error) {
	result, err := a.History.Append(ctx, taskOf(ctx), idOf(r.SessionID), each(r.Body.Messages, newMessage))
	if err != nil {
		return nil, err
	}
	return gen.AppendMessages200JSONResponse{Results: each(result.Results, appendedBody), LastSeq: result.LastSeq}, nil
}

// UpdateMessage implements PATCH /v1/messages/{message_id}.
func (a *API) UpdateMessage(ctx context.Context, r gen.UpdateMessageRequestObject) (gen.UpdateMessageResponseObject, error) {
	m, err := a.History.EditMessage(ctx, taskOf(ctx), idOf(r.MessageID), history.Edit{
		Content:     r.Body.Content,
		SetThinking: r.Body.Thinking.IsSpecified(),
		Thinking:    valueOf(r.Body.Thinking),
		Metadata:    r.Body.Metadata,
	})
	if err != nil {
		return nil, err
	}
	return gen.UpdateMessage200JSONResponse(messageBody(m)), nil
}

// RollbackMessages implements POST /v1/sessions/{session_id}/messages/rollback.
func (a *API) RollbackMessages(ctx context.Context, r gen.RollbackMessagesRequestObject) (gen.RollbackMessagesResponseObject, error) {
	result, err := a.History.Rollback(ctx, taskOf(ctx), idOf(r.SessionID), r.Body.FromSeq)
	if err != nil {
		return nil, err
	}
	return gen.RollbackMessages200JSONResponse{Deleted: int64(result.Deleted), LastSeq: result.LastSeq}, nil
}
