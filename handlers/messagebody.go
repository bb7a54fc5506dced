package handlers

import (
	"encoding/json"

	"gatehouse/domain/session"
	"gatehouse/gen"
)

func messageBody(m session.Message) gen.Message {
	calls := []gen.ToolCall{}
	if err := json.Unmarshal(m.ToolCalls, &calls); err != nil {
		calls = []gen.ToolCall{} // nobody but us writes them
	}
	return gen.Message{
		ID: m.ID, SessionID: m.SessionID, Seq: m.Seq, Role: gen.MessageRole(m.Role), Type: gen.MessageType(m.Type),
		Content: m.Content, Thinking: nullOr(m.Thinking), ToolCalls: calls, ToolCallID: nullOr(m.ToolCallID),
		TurnID: nullOr(m.TurnID), Metadata: m.Metadata, Sanitized: m.Sanitized,
		CreatedAt: at(m.CreatedAt), UpdatedAt: at(m.UpdatedAt),
	}
}
