package session

import (
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/domain"
)

// Failures that concern messages.
var (
	ErrMessageNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "message_not_found", Detail: "There is no such message."}
	ErrMessageConflict = &domain.Error{Kind: domain.KindConflict, Code: "message_conflict", Detail: "The id of a message belongs to another one; nothing of the batch was stored."}
)

// Role says who speaks in a message.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleSystem    Role = "system"
)

// Roles lists every role.
var Roles = []Role{RoleUser, RoleAssistant, RoleTool, RoleSystem}

// MessageType says what a message is.
type MessageType string

// The types of message.
const (
	TypeMessage  MessageType = "message"
	TypeToolCall MessageType = "tool_call"
	TypeNotice   MessageType = "notice"
)

// MessageTypes lists every type of message.
var MessageTypes = []MessageType{TypeMessage, TypeToolCall, TypeNotice}

// Message is a row of a transcript. Seq alone is its order.
type Message struct {
	ID                 string `bun:",pk"`
	TaskID             string
	SessionID          string
	Seq                int64 // from 1, gapless, never reused
	Role               Role
	Type               MessageType
	Content            string
	Thinking           *string
	ToolCalls          json.RawMessage `bun:"type:jsonb"` // an array, never null
	ToolCallID         *string
	TurnID             *string
	Metadata           json.RawMessage `bun:"type:jsonb"` // an object, never null
	Sanitized          bool            // whether U+0000 was replaced in it
	RequestFingerprint string          // of the request that made it, or of each frame; "" for what the service wrote
	DeletedAt          *time.Time      // rolled back; the row stays
	CreatedAt          time.Time
	UpdatedAt          time.Time
}

// ToolCall is a call that a message issues.
type ToolCall struct {
	ID        string  `json:"id"`                // opaque, at most 512 bytes
	Name      string  `json:"name"`              // at most 500 bytes
	Arguments string  `json:"arguments"`         // as the agent wrote them, at most 4 MiB
	Summary   *string `json:"summary,omitempty"` // for people, at most 4 MiB
}

// EncodeToolCalls returns calls the way a message keeps them: an array, never null.
func EncodeToolCalls(calls []ToolCall) json.RawMessage {
	if len(calls) == 0 {
		return json.RawMessage("[]")
	}
	b, err := json.Marshal(calls)
	if err != nil {
		panic(err) // texts always encode
	}
	return b
}

// Calls returns the calls that m issues, in order.
func (m Message) Calls() ([]ToolCall, error) {
	calls := []ToolCall{}
	if err := json.Unmarshal(m.ToolCalls, &calls); err != nil {
		return nil, fmt.Errorf("stored tool calls of message %s: %w", m.ID, err)
	}
	return calls, nil
}
