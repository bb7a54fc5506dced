package importer

import (
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/importer/claudecode"
)

// newMessage is m as the domain takes it.
func newMessage(m claudecode.Message) (history.NewMessage, error) {
	metadata, err := json.Marshal(m.Metadata)
	if err != nil {
		return history.NewMessage{}, fmt.Errorf("metadata of message %s: %w", m.ID, err)
	}
	n := history.NewMessage{
		ID: m.ID, Role: session.Role(m.Role), Type: session.MessageType(m.Type), Content: m.Content,
		Thinking: orNil(m.Thinking), ToolCallID: orNil(m.ToolCallID), TurnID: orNil(m.TurnID), Metadata: metadata,
	}
	if !m.CreatedAt.IsZero() {
		n.CreatedAt = &m.CreatedAt
	}
	for _, c := range m.ToolCalls {
		n.ToolCalls = append(n.ToolCalls, session.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Summary: orNil(c.Summary)})
	}
	for _, c := range m.FileChanges {
		n.FileChanges = append(n.FileChanges, history.ReportedChange{
			Path: c.Path, OldPath: orNil(c.OldPath), ChangeType: history.ChangeType(c.ChangeType),
			BeforeContent: c.Before, AfterContent: c.After, Patch: c.Patch,
			LinesAdded: c.LinesAdded, LinesDeleted: c.LinesDeleted, ToolCallID: orNil(c.ToolCallID),
		})
	}
	return n, nil
}

// newSession is s as the domain takes it, without its task.
func newSession(s claudecode.Session) session.New {
	return session.New{
		ID: s.ID, Kind: session.Kind(s.Kind), ParentSessionID: orNil(s.ParentID), AgentType: orNil(s.AgentType),
		Title: s.Title, WorkspacePath: orNil(s.WorkspacePath),
	}
}

// recordedTurn is a turn that started at a time and stands as t says.
func recordedTurn(t claudecode.Turn, started time.Time) session.RecordedTurn {
	r := session.RecordedTurn{ID: t.ID, State: session.TurnState(t.State), StartedAt: started}
	if t.State == claudecode.StateRunning {
		return r
	}
	ended := t.At
	if ended.Before(started) { // times step back now and then
		ended = started
	}
	r.EndedAt = &ended
	return r
}

// orNil is nil for what a transcript does not tell.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// size is about how many bytes a message is.
func size(m history.NewMessage) int {
	n := len(m.Content) + len(m.Metadata)
	if m.Thinking != nil {
		n += len(*m.Thinking)
	}
	for _, c := range m.ToolCalls {
		n += len(c.Arguments)
	}
	for _, c := range m.FileChanges {
		for _, text := range []*string{c.BeforeContent, c.AfterContent, c.Patch} {
			if text != nil {
				n += len(*text)
			}
		}
	}
	return n
}
