package history

import (
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// Members of the metadata of a tool-call message. The first four are the service's
// own (API-24); the others are words of the agent, which an edit may replace.
const (
	memberToolCall   = "tool_call_id"
	memberParent     = "parent_tool_call_id"
	memberStatus     = "status"
	memberNormalized = "normalized"
	memberExecution  = "execution_id"
	memberTitle      = "title"
	memberRaw        = "raw"
)

// toolCall is the message of a tool call while frames are merged into it.
type toolCall struct {
	message    session.Message
	metadata   map[string]json.RawMessage
	status     string
	normalized normalizedCall
	wasTask    bool // whether it carried the call of a subagent before
	isNew      bool
	touched    bool // whether it heard a frame of the batch
	changes    int  // how much of it that changed
}

// readToolCall returns a stored message as a tool call.
func readToolCall(m session.Message) (*toolCall, error) {
	c := &toolCall{message: m}
	if err := json.Unmarshal(m.Metadata, &c.metadata); err != nil {
		return nil, fmt.Errorf("stored metadata of message %s: %w", m.ID, err)
	}
	if raw := c.metadata[memberNormalized]; raw != nil {
		known, err := domain.ParseJSON(raw)
		if err != nil {
			return nil, fmt.Errorf("stored metadata of message %s: %w", m.ID, err)
		}
		c.normalized.known = known
	}
	c.status = c.text(memberStatus)
	c.wasTask = subagent.IsTask(c.normalized.known)
	return c, nil
}

// merge takes over what f says, as a context does (SC-4, SC-5): what is reported
// replaces, what is not reported stays, the first turn stays, and a terminal status is
// frozen (HI-9). It reports whether that changes the message.
func (c *toolCall) merge(f Frame) (changed bool) {
	before := c.changes
	c.message.RequestFingerprint += f.Fingerprint
	if c.message.TurnID == nil && f.TurnID != "" {
		c.message.TurnID = &f.TurnID
		c.changes++
	}
	if f.Content != "" && f.Content != c.message.Content {
		c.message.Content = f.Content
		c.changes++
	}
	if f.Sanitized && !c.message.Sanitized {
		c.message.Sanitized = true
		c.changes++
	}
	if f.Status != "" && f.Status != c.status && !session.ToolSettled(c.status) {
		c.status = f.Status
		c.set(memberStatus, encodeText(f.Status))
	}
	for _, member := range [...]struct{ name, text string }{
		{memberToolCall, f.ToolCallID}, {memberParent, f.ParentToolCallID}, {memberExecution, f.ExecutionID}, {memberTitle, f.Title},
	} {
		if member.text != "" && member.text != c.text(member.name) {
			c.set(member.name, encodeText(member.text))
		}
	}
	if f.Raw != nil && !sameJSON(f.Raw, c.metadata[memberRaw]) {
		c.set(memberRaw, f.Raw)
	}
	if c.normalized.merge(f.Normalized) {
		c.changes++
	}
	return c.changes > before
}

// heard reports whether f was merged before, whatever became of the message since:
// what a replay is told by is that of every frame, one behind the other (HI-9).
func (c *toolCall) heard(f Frame) bool {
	for told := c.message.RequestFingerprint; len(told) >= fingerprintLength; told = told[fingerprintLength:] {
		if told[:fingerprintLength] == f.Fingerprint {
			return true
		}
	}
	return false
}

func (c *toolCall) result(outcome FrameOutcome, reason FrameReason) FrameResult {
	return FrameResult{c.message.ID, c.message.Seq, outcome, reason}
}

func (c *toolCall) set(member string, value json.RawMessage) {
	c.metadata[member] = value
	c.changes++
}

func (c *toolCall) text(member string) string {
	var text string
	if stored := c.metadata[member]; stored != nil {
		_ = json.Unmarshal(stored, &text) // "" where it is none
	}
	return text
}

// done is the message with what was merged into it.
func (c *toolCall) done(now time.Time) session.Message {
	if c.normalized.changed {
		c.metadata[memberNormalized] = canonicalOf(c.normalized.known)
	}
	if c.isNew || c.changes > 0 {
		c.message.Metadata, c.message.UpdatedAt = encodeMembers(c.metadata), now
	}
	return c.message
}

// delegation is the call as a delegation, if frames made it one (HI-6).
func (c *toolCall) delegation() (d subagent.Delegation, ok bool) {
	m := c.message
	if c.wasTask || m.ToolCallID == nil || !subagent.IsTask(c.normalized.known) {
		return d, false
	}
	return subagent.Delegation{
		SessionID: m.SessionID, MessageID: m.ID, MessageSeq: m.Seq, ToolCallID: *m.ToolCallID, Ordinal: new(0),
	}, true
}

// sameJSON reports whether a canonical value is a stored one, of which a database may
// keep another form.
func sameJSON(canonical, stored json.RawMessage) bool {
	if stored == nil {
		return false
	}
	before, err := domain.CanonicalJSON(stored)
	return err == nil && string(before) == string(canonical)
}
