package subagent

import (
	"encoding/json"
	"math"
	"strconv"
)

// TaskKind is the kind of a frame that is the call of a subagent.
const TaskKind = "subagent_task"

// Payload is what the sender of a frame reports of an invocation. It is telemetry of
// somebody else's making: what is of another type than expected counts as not
// reported, and so does the empty text (SC-4, SC-7).
type Payload struct {
	Description    string
	SubagentType   string
	Status         string // of the child, any word
	AgentID        string
	Model          string
	ChildSessionID string
	DurationMS     *int64 // milliseconds, perhaps negative; nil when not reported
	TotalTokens    *int64 // likewise
	ToolUseCount   *int64 // likewise
	IsAsync        bool
}

// IsTask reports whether what a frame was normalized to, as [domain.ParseJSON] reads
// it, is the call of a subagent (HI-6). Names of members are exact.
func IsTask(normalized any) bool {
	members, _ := normalized.(map[string]any)
	return members["kind"] == TaskKind
}

// PayloadOf returns what a call of a subagent reports. Without the object that says
// it, the frame is a message only (SC-1).
func PayloadOf(normalized any) (p Payload, ok bool) {
	if !IsTask(normalized) {
		return Payload{}, false
	}
	m, ok := normalized.(map[string]any)[TaskKind].(map[string]any)
	if !ok {
		return Payload{}, false
	}
	text := func(name string) string { s, _ := m[name].(string); return s }
	return Payload{
		Description: text("description"), SubagentType: text("subagent_type"), Status: text("status"),
		AgentID: text("agent_id"), Model: text("model"), ChildSessionID: text("child_session_id"),
		DurationMS: metric(m["duration_ms"]), TotalTokens: metric(m["total_tokens"]), ToolUseCount: metric(m["tool_use_count"]),
		IsAsync: truth(m["is_async"]),
	}, true
}

// metric is a number that is integral by value and fits (1e3 is 1000), nil for
// everything else. What is negative stays so, whatever its form (SC-5, SC-8).
func metric(v any) *int64 {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return &i
	}
	f, err := n.Float64()
	switch {
	case f < 0:
		return new(int64(-1))
	case err != nil || f != math.Trunc(f) || f >= 1<<63:
		return nil
	}
	return new(int64(f))
}

// truth accepts both spellings of a boolean, true and 1, the number in any form (SC-31).
func truth(v any) bool {
	n := metric(v)
	return v == true || n != nil && *n == 1
}
