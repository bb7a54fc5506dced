package session

import (
	"encoding/json"
	"time"
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

// MessageType says what a message is.
type MessageType string

// The types of message.
const (
	TypeMessage  MessageType = "message"
	TypeToolCall MessageType = "tool_call"
	TypeNotice   MessageType = "notice"
)

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
	RequestFingerprint string          // of the request that made it; "" for what the service wrote
	DeletedAt          *time.Time      // rolled back; the row stays
	CreatedAt          time.Time
	UpdatedAt          time.Time
}
