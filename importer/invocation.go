package importer

import (
	"context"
	"strings"

	"gatehouse/domain"
	"gatehouse/domain/subagent"
	"gatehouse/importer/claudecode"
)

// invocations are the calls of subagents that a transcript told of, as frames tell of
// them. No execution of an agent is known: a transcript names none (SC-20).
type invocations struct {
	running map[string]subagent.Report // by the session of the subagent: what its run said when it started
	calls   map[string]string          // by the session of the subagent: the call of its last run
}

func newInvocations() invocations {
	return invocations{map[string]subagent.Report{}, map[string]string{}}
}

// launched keeps what the start of a run says, until it is told whether the run ended:
// both are recorded together. What has no result yet has no status.
func (i invocations) launched(taskID string, e claudecode.ExecutionStart) {
	f := subagent.Report{
		TaskSessionID: e.ParentSessionID, TaskID: taskID, TurnID: e.ParentTurnID,
		ToolCallID: e.ParentToolCall, ParentToolCallID: i.calls[e.ParentSessionID], ObservedAt: e.At,
		Payload: subagent.Payload{
			Description: storable(e.Description), SubagentType: storable(e.AgentType), ChildSessionID: e.ChildSessionID, IsAsync: e.Async,
		},
	}
	if e.AgentID != e.ParentToolCall { // which stands in where nothing names the agent
		f.Payload.AgentID = storable(e.AgentID)
	}
	if e.Async {
		f.Payload.Status = "async_launched"
	}
	i.calls[e.ChildSessionID] = e.ParentToolCall
	i.running[e.ChildSessionID] = f
}

// left is what the run of a child says that did not end, if there is one.
func (i invocations) left(child string) []subagent.Report {
	f, running := i.running[child]
	if !running {
		return nil
	}
	delete(i.running, child)
	return []subagent.Report{f}
}

// ended is what a run says from its start to its end.
func (i invocations) ended(e claudecode.ExecutionEnd) []subagent.Report {
	start := i.running[e.ChildSessionID]
	delete(i.running, e.ChildSessionID)
	f := start
	f.ToolStatus, f.ObservedAt = string(e.Status), e.At
	f.Payload.Status, f.Payload.Model = string(e.Status), storable(e.Metrics.Model)
	f.Payload.TotalTokens, f.Payload.ToolUseCount, f.Payload.DurationMS = e.Metrics.TotalTokens, e.Metrics.ToolUses, e.Metrics.DurationMS
	return []subagent.Report{start, f}
}

// storable is a text of a transcript as databases take it.
func storable(text string) string {
	text, _ = domain.ReplaceNUL(strings.ToValidUTF8(text, "\uFFFD"))
	return text
}

// record records frames. A load that finds them recorded leaves that as it is: the same
// frames at the same times lead to the same row.
func (w *writer) record(ctx context.Context, frames []subagent.Report) {
	if len(frames) > 0 {
		w.Contexts.Record(ctx, frames)
	}
}
