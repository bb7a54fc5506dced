package history

import (
	"fmt"
	"slices"
	"strings"

	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// extend is stored, whose file changes are known, with what d has beyond it, or
// [session.ErrMessageConflict].
func (d draft) extend(stored session.Message, known []FileChange) (addition, error) {
	before, err := stored.Calls()
	if err != nil {
		return addition{}, err
	}
	after, err := d.message.Calls()
	if err != nil {
		return addition{}, err
	}
	further, ok := d.further(known)
	if !ok || !d.speaksOn(stored) || len(after) < len(before) || !slices.EqualFunc(before, after[:len(before)], sameCall) {
		return addition{}, session.ErrMessageConflict
	}
	owned, err := ownedMembers(stored.Metadata)
	if err != nil {
		return addition{}, fmt.Errorf("stored metadata: %w", err)
	}
	m := stored
	m.Content, m.Thinking, m.ToolCalls = d.message.Content, d.message.Thinking, d.message.ToolCalls
	m.Metadata, m.Sanitized = withOwned(d.message.Metadata, owned), stored.Sanitized || d.message.Sanitized
	m.RequestFingerprint, m.UpdatedAt = d.message.RequestFingerprint, d.message.UpdatedAt
	a := addition{messages: []session.Message{m}}
	for i, c := range further {
		c.TaskID, c.SessionID, c.MessageID, c.MessageSeq, c.Ordinal = m.TaskID, m.SessionID, m.ID, m.Seq, len(known)+i
		a.changes = append(a.changes, c)
	}
	for _, call := range d.delegations {
		if *call.ordinal >= len(before) {
			a.delegations = append(a.delegations, subagent.Delegation{
				SessionID: m.SessionID, MessageID: m.ID, MessageSeq: m.Seq, ToolCallID: call.toolCallID, Ordinal: call.ordinal,
			})
		}
	}
	return a, nil
}

// speaksOn reports whether d is stored with perhaps more to say.
func (d draft) speaksOn(stored session.Message) bool {
	m := d.message
	return m.Role == stored.Role && m.Type == stored.Type &&
		equal(m.TurnID, stored.TurnID) && equal(m.ToolCallID, stored.ToolCallID) &&
		strings.HasPrefix(m.Content, stored.Content) && strings.HasPrefix(value(m.Thinking), value(stored.Thinking))
}

// further returns the changes of d that are not among the known ones, and whether d
// has all of these. Calls may be answered in another order than they were issued, so
// what is known need not come first.
func (d draft) further(known []FileChange) ([]FileChange, bool) {
	rest := slices.Clone(d.changes)
	for _, k := range known {
		i := slices.IndexFunc(rest, k.says)
		if i < 0 {
			return nil, false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return rest, true
}

// says reports whether c tells of the same operation as other.
func (c FileChange) says(other FileChange) bool {
	return c.Path == other.Path && c.ChangeType == other.ChangeType && c.DiffMode == other.DiffMode &&
		equal(c.OldPath, other.OldPath) && equal(c.ToolCallID, other.ToolCallID) &&
		equal(c.BeforeContent, other.BeforeContent) && equal(c.AfterContent, other.AfterContent) &&
		equal(c.Patch, other.Patch)
}

func sameCall(a, b session.ToolCall) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Arguments == b.Arguments && equal(a.Summary, b.Summary)
}

// equal reports whether both are absent or both the same.
func equal[T comparable](a, b *T) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}
