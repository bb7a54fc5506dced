package storetest

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// ContextCase is a case of testdata/cases/subagent-upsert.json.
type ContextCase struct {
	Name     string
	Frames   []CaseFrame
	Rows     []CaseRow
	Counters map[subagent.RecordOutcome]int
}

// CaseFrame is a frame of a case. Its session is S1, its task T1, or each is empty.
type CaseFrame struct {
	Session          string          `json:"session"`
	Task             string          `json:"task"`
	TurnID           string          `json:"turn_id"`
	ToolCallID       string          `json:"tool_call_id"`
	ParentToolCallID string          `json:"parent_tool_call_id"`
	ExecutionID      string          `json:"execution_id"`
	ObservedAt       time.Time       `json:"observed_at"`
	Status           string          `json:"status"`
	Payload          json.RawMessage `json:"payload"`
}

// CaseRow is a row as the cases have it.
type CaseRow struct {
	TaskSessionID    string          `json:"task_session_id"`
	AgentExecutionID string          `json:"agent_execution_id"`
	ToolCallID       string          `json:"tool_call_id"`
	TurnID           *string         `json:"turn_id"`
	ToolStatus       *string         `json:"tool_status"`
	IsAsync          bool            `json:"is_async"`
	Source           subagent.Source `json:"source"`
	ObservedAt       time.Time       `json:"observed_at"`
	SettledAt        *time.Time      `json:"settled_at"`
	SubagentType     *string         `json:"subagent_type"`
	Description      *string         `json:"description"`
	AgentID          *string         `json:"agent_id"`
	ChildSessionID   *string         `json:"child_session_id"`
	Model            *string         `json:"model"`
	ParentToolCallID *string         `json:"parent_tool_call_id"`
	AgentStatus      *string         `json:"agent_status"`
	TotalTokens      *int64          `json:"total_tokens"`
	ToolUseCount     *int64          `json:"tool_use_count"`
	DurationMS       *int64          `json:"duration_ms"`
}

// ContextCases reads the cases from a file.
func ContextCases(t *testing.T, path string) []ContextCase {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []ContextCase }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 20 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	return file.Cases
}

// Report is what the frame says in a session of a task.
func (f CaseFrame) Report(t *testing.T, sessionID, taskID string) subagent.Report {
	t.Helper()
	v, err := domain.ParseJSON(f.Payload)
	if err != nil {
		t.Fatal(err)
	}
	payload, ok := subagent.PayloadOf(map[string]any{"kind": "subagent_task", "subagent_task": v})
	if !ok {
		t.Fatalf("payload is %s", f.Payload)
	}
	if f.Session == "" {
		sessionID = ""
	}
	if f.Task == "" {
		taskID = ""
	}
	return subagent.Report{
		TaskSessionID: sessionID, TaskID: taskID, TurnID: f.TurnID, ExecutionID: f.ExecutionID, ToolCallID: f.ToolCallID,
		ParentToolCallID: f.ParentToolCallID, ToolStatus: f.Status, ObservedAt: f.ObservedAt, Payload: payload,
	}
}

// CaseRows are rows as the cases have them, of session S1.
func CaseRows(rows []subagent.Context) []CaseRow {
	out := []CaseRow{}
	for _, c := range rows {
		out = append(out, CaseRow{
			"S1", c.AgentExecutionID, c.ToolCallID, c.TurnID, c.ToolStatus, c.IsAsync, c.Source, c.ObservedAt, c.SettledAt,
			c.SubagentType, c.Description, c.AgentID, c.ChildSessionID, c.Model, c.ParentToolCallID, c.AgentStatus,
			c.TotalTokens, c.ToolUseCount, c.DurationMS,
		})
	}
	return out
}
