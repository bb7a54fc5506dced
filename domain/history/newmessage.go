package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// NewMessage is a message as an agent's record tells it. Texts are valid UTF-8.
type NewMessage struct {
	ID          string // the caller's, or "" for one of ours
	Role        session.Role
	Type        session.MessageType // "" is message
	Content     string              // at most 4 MiB
	Thinking    *string             // at most 4 MiB
	ToolCalls   []session.ToolCall  // at most 500
	ToolCallID  *string             // of the call it answers, at most 512 bytes
	TurnID      *string             // a turn of the session
	Metadata    json.RawMessage     // an object without the keys of [domain.ReservedMetadata]; nil is {}
	CreatedAt   *time.Time          // nil is now
	FileChanges []ReportedChange    // at most 1,000

	// Owned are members of metadata that the service sets itself, for what a frame
	// or a transcript says. A request never fills it.
	Owned map[string]json.RawMessage `json:",omitempty"`
}

// draft is a message that was judged and made ready outside of the transaction. It
// lacks its place: seq, and the workspace its paths are relative to.
type draft struct {
	message     session.Message
	changes     []FileChange
	delegations []delegated
}

// delegated is a call of a delegation tool in a draft.
type delegated struct {
	toolCallID string
	ordinal    *int
}

// check notes in p what is wrong with m; field is its JSON pointer.
func (m NewMessage) check(p *domain.Problems, field string) {
	if !slices.Contains(session.Roles, m.Role) {
		p.Add(field+"/role", domain.ProblemEnum, "must be user, assistant, tool or system")
	}
	if m.Type != "" && !slices.Contains(session.MessageTypes, m.Type) {
		p.Add(field+"/type", domain.ProblemEnum, "must be message, tool_call or notice")
	}
	checkOutput(p, field+"/content", m.Content)
	if m.Thinking != nil {
		checkOutput(p, field+"/thinking", *m.Thinking)
	}
	if m.ToolCallID != nil {
		domain.CheckText(p, field+"/tool_call_id", *m.ToolCallID, domain.MaxOpaqueID)
	}
	if m.CreatedAt != nil {
		domain.CheckTime(p, field+"/created_at", *m.CreatedAt)
	}
	checkMany(p, field+"/tool_calls", len(m.ToolCalls), domain.MaxBatch)
	for i, c := range m.ToolCalls {
		checkCall(p, fmt.Sprintf("%s/tool_calls/%d", field, i), c)
	}
	checkMany(p, field+"/file_changes", len(m.FileChanges), domain.MaxFileChanges)
	for i, c := range m.FileChanges {
		c.Validate(p, fmt.Sprintf("%s/file_changes/%d", field, i))
	}
}

func checkCall(p *domain.Problems, field string, c session.ToolCall) {
	domain.CheckText(p, field+"/id", c.ID, domain.MaxOpaqueID)
	domain.CheckText(p, field+"/name", c.Name, domain.MaxShortText)
	checkOutput(p, field+"/arguments", c.Arguments)
	if c.Summary != nil {
		domain.CheckText(p, field+"/summary", *c.Summary, domain.MaxMessageText)
	}
}

// checkOutput judges the text of an agent, in which U+0000 is no fault.
func checkOutput(p *domain.Problems, field, text string) {
	if len(text) > domain.MaxMessageText {
		p.Add(field, domain.ProblemTooLong, "must be at most %d bytes of UTF-8", domain.MaxMessageText)
	}
}

func checkMany(p *domain.Problems, field string, n, most int) {
	if n > most {
		p.Add(field, domain.ProblemTooMany, "must be at most %d", most)
	}
}

// draft makes m ready to be stored in a session. metadata is its own in canonical
// form, and tools are those that delegate.
func (m NewMessage) draft(sessionID string, metadata []byte, tools []string, now time.Time) draft {
	m.Metadata = metadata
	m = m.plain()
	d := draft{message: m.bare(sessionID, now)}
	d.message.Metadata, d.message.RequestFingerprint = withOwned(metadata, m.Owned), m.fingerprint(sessionID)
	d.keepTexts(m)
	d.keepChanges(m.FileChanges)
	d.findDelegations(m, tools)
	return d
}

// bare is the message that m, which is plain, makes in a session, but for its texts,
// metadata and fingerprint.
func (m NewMessage) bare(sessionID string, now time.Time) session.Message {
	made := session.Message{
		ID: m.ID, SessionID: sessionID, Role: m.Role, Type: m.Type, ToolCalls: session.EncodeToolCalls(nil),
		ToolCallID: m.ToolCallID, TurnID: m.TurnID, CreatedAt: now, UpdatedAt: now,
	}
	if m.CreatedAt != nil {
		made.CreatedAt = *m.CreatedAt
	}
	if made.ID == "" {
		made.ID = domain.NewID()
	}
	return made
}

// plain is m with what may be said in two ways said in one.
func (m NewMessage) plain() NewMessage {
	if m.Type == "" {
		m.Type = session.TypeMessage
	}
	if m.CreatedAt != nil {
		m.CreatedAt = new(m.CreatedAt.UTC().Truncate(time.Microsecond))
	}
	if len(m.ToolCalls) == 0 {
		m.ToolCalls = nil
	}
	if len(m.FileChanges) == 0 {
		m.FileChanges = nil
	}
	return m
}

// fingerprint is that of the original request, whatever becomes of the message
// later (HI-9). It leaves the id out: that is what it is kept under.
func (m NewMessage) fingerprint(sessionID string) string {
	m.ID = ""
	return domain.Fingerprint(struct {
		SessionID string
		Message   NewMessage
	}{sessionID, m})
}

// keepTexts keeps what the agent said, without U+0000, which cannot be stored.
func (d *draft) keepTexts(m NewMessage) {
	keep := func(text string) string {
		clean, replaced := domain.ReplaceNUL(text)
		d.message.Sanitized = d.message.Sanitized || replaced
		return clean
	}
	d.message.Content = keep(m.Content)
	if m.Thinking != nil {
		d.message.Thinking = new(keep(*m.Thinking))
	}
	calls := slices.Clone(m.ToolCalls)
	for i := range calls {
		calls[i].Arguments = keep(calls[i].Arguments)
	}
	d.message.ToolCalls = session.EncodeToolCalls(calls)
}

// keepChanges records what is reported. It compares texts, so it is done before the
// transaction; where the paths lead is known in it, see [draft.place].
func (d *draft) keepChanges(reported []ReportedChange) {
	for i, r := range reported {
		c := Record(r, "")
		c.ID, c.Ordinal, c.CreatedAt = domain.NewID(), i, d.message.CreatedAt
		d.changes = append(d.changes, c)
	}
}

// findDelegations finds the calls of delegation tools: those the message issues, or
// the one that it is the frame of (HI-6).
func (d *draft) findDelegations(m NewMessage, tools []string) {
	for i, c := range m.ToolCalls {
		if c.ID != "" && slices.Contains(tools, c.Name) {
			d.delegations = append(d.delegations, delegated{c.ID, new(i)})
		}
	}
	if m.Type == session.TypeToolCall && m.ToolCallID != nil && *m.ToolCallID != "" && isSubagentTask(m.Owned["normalized"]) {
		d.delegations = append(d.delegations, delegated{*m.ToolCallID, new(len(m.ToolCalls))})
	}
}

// isSubagentTask reports whether what a frame was normalized to is the call of a
// subagent.
func isSubagentTask(normalized json.RawMessage) bool {
	v, err := domain.ParseJSON(normalized)
	return err == nil && subagent.IsTask(v)
}

// withOwned adds members to metadata, which is canonical and not null.
func withOwned(metadata []byte, owned map[string]json.RawMessage) json.RawMessage {
	if len(owned) == 0 {
		return metadata
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(metadata, &members); err != nil {
		panic(err) // an object, or it would have been refused
	}
	maps.Copy(members, owned)
	return encodeMembers(members)
}

// encodeMembers joins members that are JSON each, in the order of their names.
func encodeMembers(members map[string]json.RawMessage) json.RawMessage {
	names, size := make([]string, 0, len(members)), len("{}")
	for name, value := range members {
		names, size = append(names, name), size+len(`"":,`)+len(name)+len(value)
	}
	slices.Sort(names)
	b := append(make([]byte, 0, size), '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encodeText(name)...)
		b = append(b, ':')
		b = append(b, members[name]...)
	}
	return append(b, '}')
}

func encodeText(text string) json.RawMessage {
	encoded, err := domain.EncodeCanonical(text)
	if err != nil {
		panic(err) // without U+0000 every text encodes
	}
	return encoded
}
