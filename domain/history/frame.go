package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// FrameKind is how the sender of a frame sees it. An agent's frames come in any order,
// so both are read alike: the first one of a call makes its message.
type FrameKind string

// The kinds of frame.
const (
	FrameToolCall       FrameKind = "tool_call"
	FrameToolCallUpdate FrameKind = "tool_call_update"
)

// FrameReason says why a frame changed nothing.
type FrameReason string

// The reasons.
const (
	FrameMalformed       FrameReason = "malformed"        // no object of the agreed members and types
	FrameUnknownKind     FrameReason = "unknown_frame"    // frame is neither tool_call nor tool_call_update
	FrameTooLong         FrameReason = "too_long"         // an id, the title or the status
	FrameTooLarge        FrameReason = "too_large"        // content, normalized or raw
	FrameNULInID         FrameReason = "nul"              // an id with U+0000
	FrameBadTime         FrameReason = "invalid_time"     // observed_at is no time that can be stored
	FrameUnstorable      FrameReason = "unstorable"       // a number that no database holds
	FrameTurnNotFound    FrameReason = "turn_not_found"   // the turn is none of the session's (API-23)
	FrameMessageConflict FrameReason = "message_conflict" // the id of its message belongs to another one
	FrameRolledBack      FrameReason = "rolled_back"      // its message was; it stays so
)

// Frame is one event of a tool call, as an agent's record tells it. "" and nil are
// what it does not say: empty texts and nulls are data, not errors.
type Frame struct {
	Kind             FrameKind
	ToolCallID       string // at most 512 bytes, as the two below
	ExecutionID      string
	ParentToolCallID string
	TurnID           string // in the form in which ids are stored
	Title            string // at most 500 bytes, as the status
	Status           string // any word
	Content          string // at most 4 MiB
	ObservedAt       *time.Time
	Normalized       any             // as [domain.ParseJSON] reads it, at most 4 MiB as canonical JSON
	Raw              json.RawMessage // canonical, at most 4 MiB
	Sanitized        bool            // whether U+0000 was replaced in it
	Fingerprint      string          // of all of it, 16 characters: what a replay is told by (HI-9)

	normalized json.RawMessage // Normalized in canonical form
}

// frameMembers are the members of a frame. Names are exact.
var frameMembers = []string{
	"frame", "tool_call_id", "execution_id", "parent_tool_call_id", "turn_id", "title", "status", "observed_at",
	"content", "normalized", "raw",
}

// ParseFrame reads a frame, or says what is wrong with it. What stands in normalized
// and raw is data, unknown members included; beside them a frame has no others.
func ParseFrame(raw []byte) (f Frame, wrong FrameReason) {
	v, err := domain.ParseJSON(raw)
	members, isObject := v.(map[string]any)
	if err != nil || !isObject {
		return Frame{}, FrameMalformed
	}
	p := frameParser{members: members, most: min(max(len(raw)*maxSpread, smallFrame), domain.MaxMessageText)}
	for name := range members {
		if !slices.Contains(frameMembers, name) {
			return Frame{}, FrameMalformed
		}
	}
	f.ToolCallID, f.ExecutionID, f.ParentToolCallID = p.id("tool_call_id"), p.id("execution_id"), p.id("parent_tool_call_id")
	if bytes.Contains(raw, []byte(`\u0000`)) {
		_, f.Sanitized = domain.ReplaceNULs(members)
	}
	f.Kind, f.TurnID, f.ObservedAt = p.kind(), p.turn(), p.time("observed_at")
	f.Title, f.Status = p.text("title", domain.MaxShortText, FrameTooLong), p.text("status", domain.MaxShortText, FrameTooLong)
	f.Content = p.text("content", domain.MaxMessageText, FrameTooLarge)
	f.Normalized, f.normalized, f.Raw = members["normalized"], p.json("normalized"), p.json("raw")
	if p.wrong != "" {
		return Frame{}, p.wrong
	}
	f.Fingerprint = f.fingerprint()
	return f, ""
}

// frameParser reads the members of a frame, and keeps the first thing that is wrong.
type frameParser struct {
	members map[string]any
	most    int // bytes of a member in canonical form
	wrong   FrameReason
}

// A number of few digits can have hundreds in canonical form: 1e300. What a frame spreads
// to is bounded by what was sent, else a batch of the size of a request would take
// gigabytes. Small frames may spread as they like.
const (
	maxSpread  = 4
	smallFrame = 64 << 10 // bytes
)

func (p *frameParser) fail(why FrameReason) {
	if p.wrong == "" {
		p.wrong = why
	}
}

// text is a member that is a text, absent or null.
func (p *frameParser) text(name string, most int, tooLong FrameReason) string {
	text, isText := p.members[name].(string)
	if !isText && p.members[name] != nil {
		p.fail(FrameMalformed)
	}
	if len(text) > most {
		p.fail(tooLong)
	}
	return text
}

// id is an opaque id. U+0000 is not replaced in it: two ids could become one.
func (p *frameParser) id(name string) string {
	id := p.text(name, domain.MaxOpaqueID, FrameTooLong)
	if domain.HasNUL(id) {
		p.fail(FrameNULInID)
	}
	return id
}

func (p *frameParser) kind() FrameKind {
	kind := FrameKind(p.text("frame", domain.MaxShortText, FrameUnknownKind))
	if kind != FrameToolCall && kind != FrameToolCallUpdate {
		p.fail(FrameUnknownKind)
	}
	return kind
}

// turn is the id of a turn. What is no id is the id of none.
func (p *frameParser) turn() string {
	text := p.text("turn_id", domain.MaxShortText, FrameTurnNotFound)
	id, ok := domain.ParseID(text)
	if !ok && text != "" {
		p.fail(FrameTurnNotFound)
	}
	return id
}

func (p *frameParser) time(name string) *time.Time {
	text := p.text(name, domain.MaxShortText, FrameBadTime)
	if text == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !domain.Storable(t) {
		p.fail(FrameBadTime)
	}
	return new(t.UTC().Truncate(time.Microsecond))
}

// json is a member of any form in canonical form, nil when it is absent or null.
func (p *frameParser) json(name string) json.RawMessage {
	v := p.members[name]
	if v == nil {
		return nil
	}
	canonical, err := domain.EncodeCanonicalWithin(v, p.most)
	switch {
	case errors.Is(err, domain.ErrCanonicalTooLong):
		p.fail(FrameTooLarge)
	case err != nil:
		p.fail(FrameUnstorable)
	}
	return canonical
}

// A message keeps the fingerprints of all its frames, so they are short: 96 bits of a
// SHA-256 are plenty within one call.
const (
	fingerprintBytes  = 12
	fingerprintLength = fingerprintBytes * 4 / 3 // as text
)

// fingerprint tells a replayed frame (HI-9). No part of it holds U+0000.
func (f Frame) fingerprint() string {
	observed := ""
	if f.ObservedAt != nil {
		observed = f.ObservedAt.Format(time.RFC3339Nano)
	}
	h := sha256.New()
	h.Write([]byte(strings.Join([]string{
		string(f.Kind), f.ToolCallID, f.ExecutionID, f.ParentToolCallID, f.TurnID, f.Title, f.Status, observed, f.Content, "",
	}, "\x00")))
	h.Write(f.normalized)
	h.Write([]byte{0})
	h.Write(f.Raw)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:fingerprintBytes])
}

// messageID is the id of the message of a call: always the same for a call of an
// execution, so that every frame finds it, in any order and from any process. A frame
// without a call is a message of its own.
func (f Frame) messageID(sessionID string) string {
	execution := subagent.ExecutionKey(f.ExecutionID)
	if f.ToolCallID == "" {
		return domain.DeriveID(sessionID, "frame", execution, "", f.Fingerprint)
	}
	return domain.DeriveID(sessionID, "frame", execution, f.ToolCallID)
}
