package storetest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// ContextModel is a subagent.ContextStore in memory: the merge in plain words.
type ContextModel struct {
	mu   sync.Mutex
	rows map[[3]string]subagent.Context
}

// MergeContexts implements subagent.ContextStore.
func (m *ContextModel) MergeContexts(_ context.Context, contexts []subagent.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows == nil {
		m.rows = map[[3]string]subagent.Context{}
	}
	for _, c := range contexts {
		key := [3]string{c.TaskSessionID, c.AgentExecutionID, c.ToolCallID}
		if row, known := m.rows[key]; known {
			c = mergedContext(row, c)
		}
		m.rows[key] = c
	}
	return nil
}

func mergedContext(row, c subagent.Context) subagent.Context {
	if row.TurnID == nil {
		row.TurnID = c.TurnID
	}
	if row.SettledAt == nil {
		row.SettledAt = c.SettledAt
	}
	if row.ToolStatus == nil || !session.ToolSettled(*row.ToolStatus) {
		row.ToolStatus = latest(row.ToolStatus, c.ToolStatus)
	}
	row.IsAsync = row.IsAsync || c.IsAsync
	row.ParentToolCallID = latest(row.ParentToolCallID, c.ParentToolCallID)
	row.SubagentType = latest(row.SubagentType, c.SubagentType)
	row.Description = latest(row.Description, c.Description)
	row.AgentID = latest(row.AgentID, c.AgentID)
	row.ChildSessionID = latest(row.ChildSessionID, c.ChildSessionID)
	row.Model = latest(row.Model, c.Model)
	row.AgentStatus = latest(row.AgentStatus, c.AgentStatus)
	row.TotalTokens = latest(row.TotalTokens, c.TotalTokens)
	row.ToolUseCount = latest(row.ToolUseCount, c.ToolUseCount)
	row.DurationMS = latest(row.DurationMS, c.DurationMS)
	row.UpdatedAt = c.UpdatedAt
	return row
}

func latest[T any](known, reported *T) *T {
	if reported == nil {
		return known
	}
	return reported
}

// ContextRows returns the rows of a session in the order of SC-11.
func (m *ContextModel) ContextRows(_ context.Context, sessionID string) ([]subagent.Context, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rows []subagent.Context
	for _, row := range m.rows {
		if row.TaskSessionID == sessionID {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b subagent.Context) int {
		return cmp.Or(a.ObservedAt.Compare(b.ObservedAt), cmp.Compare(a.ToolCallID, b.ToolCallID),
			cmp.Compare(a.AgentExecutionID, b.AgentExecutionID))
	})
	return rows, nil
}

// FrameCounts is a subagent.RecordObserver that can be asked.
type FrameCounts struct {
	mu sync.Mutex
	n  map[subagent.RecordOutcome]int
}

// Observed implements subagent.RecordObserver.
func (c *FrameCounts) Observed(outcome subagent.RecordOutcome, frames int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[subagent.RecordOutcome]int)
	}
	c.n[outcome] += frames
}

// All returns every outcome with its number.
func (c *FrameCounts) All() map[subagent.RecordOutcome]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[subagent.RecordOutcome]int)
	for _, outcome := range subagent.RecordOutcomes {
		all[outcome] = c.n[outcome]
	}
	return all
}
