package history

import (
	"encoding/json"
	"fmt"
	"maps"
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
	normalized any  // as [domain.ParseJSON] reads it
	wasTask    bool // whether it carried the call of a subagent before
	isNew      bool
	touched    bool // whether it heard a frame of the batch
	changed    bool // whether that changed it
}

// readToolCall returns a stored message as a tool call.
func readToolCall(m session.Message) (*toolCall, error) {
	c := &toolCall{message: m}
	if err := json.Unmarshal(m.Metadata, &c.metadata); err != nil {
		return nil, fmt.Errorf("stored metadata of message %s: %w", m.ID, err)
	}
	if raw := c.metadata[memberNormalized]; raw != nil {
		var err error
		if c.normalized, err = domain.ParseJSON(raw); err != nil {
			return nil, fmt.Errorf("stored metadata of message %s: %w", m.ID, err)
		}
	}
	c.status = c.text(memberStatus)
	c.wasTask = subagent.IsTask(c.normalized)
	return c, nil
}

// merge takes over what f says, as a context does (SC-4, SC-5): what is reported
// replaces, what is not reported stays, the first turn stays, and a terminal status is
// frozen (HI-9). It reports whether that changes the message.
func (c *toolCall) merge(f Frame) (changed bool) {
	before := c.changed
	c.changed = false
	defer func() { changed, c.changed = c.changed, c.changed || before }()
	c.message.RequestFingerprint += f.Fingerprint
	if c.message.TurnID == nil && f.TurnID != "" {
		c.message.TurnID, c.changed = &f.TurnID, true
	}
	if f.Content != "" && f.Content != c.message.Content {
		c.message.Content, c.changed = f.Content, true
	}
	if f.Sanitized && !c.message.Sanitized {
		c.message.Sanitized, c.changed = true, true
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
	if f.Normalized != nil {
		c.mergeNormalized(f)
	}
	return c.changed
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

func (c *toolCall) mergeNormalized(f Frame) {
	if c.normalized == nil {
		c.normalized = f.Normalized
		c.set(memberNormalized, f.normalized)
		return
	}
	merged, canonical := c.mergedNormalized(f)
	c.normalized = merged
	if !sameJSON(canonical, c.metadata[memberNormalized]) {
		c.set(memberNormalized, canonical)
	}
}

func (c *toolCall) mergedNormalized(f Frame) (merged any, canonical []byte) {
	merged = mergeReported(c.normalized, f.Normalized, "subagent_task")
	canonical, err := domain.EncodeCanonical(merged)
	if err != nil {
		panic(err) // both were canonical
	}
	return merged, canonical
}

// holds reports whether f leaves what the call is within the limit of one frame: member
// by member it could grow without end.
func (c *toolCall) holds(f Frame) bool {
	if len(c.metadata[memberNormalized])+len(f.normalized) <= domain.MaxMessageText || c.normalized == nil || f.Normalized == nil {
		return true
	}
	_, canonical := c.mergedNormalized(f)
	return len(canonical) <= domain.MaxMessageText
}

// mergeReported is what is known with what is reported: member by member where both
// are objects, and so in the member below. A null or an empty text blanks nothing.
func mergeReported(known, reported any, below string) any {
	before, wereMembers := known.(map[string]any)
	after, areMembers := reported.(map[string]any)
	if !wereMembers || !areMembers {
		return reported
	}
	merged := maps.Clone(before)
	for name, v := range after {
		old, known := merged[name]
		switch {
		case known && (v == nil || v == ""):
		case name == below:
			merged[name] = mergeReported(old, v, "")
		default:
			merged[name] = v
		}
	}
	return merged
}

func (c *toolCall) set(member string, value json.RawMessage) {
	c.metadata[member], c.changed = value, true
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
	if c.changed {
		c.message.Metadata, c.message.UpdatedAt = encodeMembers(c.metadata), now
	}
	return c.message
}

// delegation is the call as a delegation, if frames made it one (HI-6).
func (c *toolCall) delegation() (d subagent.Delegation, ok bool) {
	m := c.message
	if c.wasTask || m.ToolCallID == nil || !subagent.IsTask(c.normalized) {
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
