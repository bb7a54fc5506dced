package importer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/importer"
)

// totals is what a sample is known to hold, as testdata/transcripts/totals.json says.
type totals struct {
	Holds       importer.Added            `json:"holds"`
	Delegations map[string]int            `json:"delegations"` // by tool
	Async       int                       `json:"async"`       // delegations in the background
	Edits       map[string]map[string]int `json:"edits"`       // successful, by agent and tool
}

// knownTotals returns the totals of every sample.
func knownTotals(t *testing.T) map[string]totals {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(samples, "..", "totals.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]totals
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// totals counts what is stored of a transcript of so many files, which are not.
func (w work) totals(files int) totals {
	got := totals{Delegations: map[string]int{}, Edits: map[string]map[string]int{}}
	got.Holds = importer.Added{Files: files, Tasks: 1, Sessions: len(w.Sessions)}
	for _, s := range w.Sessions {
		agent := "main"
		if s.Kind == session.KindSubagent {
			got.Holds.Subagents++
			agent = w.agentOf(s.ID)
		}
		got.Holds.Messages += len(w.Messages[s.ID])
		for _, e := range w.Executions[s.ID] {
			got.Holds.Executions++
			got.Delegations[e.Tool]++
		}
		for _, c := range w.Contexts[s.ID] {
			if c.IsAsync {
				got.Async++
			}
		}
		for _, m := range w.Messages[s.ID] {
			got.Holds.FileChanges += countEdits(got.Edits, agent, s.ID, m)
		}
	}
	return got
}

// agentOf is the name of the agent that a session is of.
func (w work) agentOf(child string) string {
	for _, contexts := range w.Contexts {
		for _, c := range contexts {
			if c.ChildSessionID != nil && *c.ChildSessionID == child && c.AgentID != nil {
				return *c.AgentID
			}
		}
	}
	return child
}

// countEdits counts the changes of a message that its own session made, by tool.
func countEdits(edits map[string]map[string]int, agent, sessionID string, m history.PageMessage) (own int) {
	for _, c := range m.FileChanges {
		if c.SourceSessionID != sessionID {
			continue
		}
		own++
		at := slices.IndexFunc(m.Calls, func(call session.ToolCall) bool { return call.ID == *c.ToolCallID })
		if edits[agent] == nil {
			edits[agent] = map[string]int{}
		}
		edits[agent][m.Calls[at].Name]++
	}
	return own
}
