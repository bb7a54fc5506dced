package importer

import (
	"testing"

	"gatehouse/importer/claudecode"
)

// What a transcript tells of a run: nested calls name the call around them, the id of a
// call is no agent's, and texts can be stored.
func TestInvocations(t *testing.T) {
	all := newInvocations()
	outer := all.launched("task", claudecode.ExecutionStart{
		ID: "1", ParentSessionID: "main", ParentToolCall: "c1", ChildSessionID: "child", AgentID: "c1", AgentType: "a\x00\xff",
	})
	if outer.ParentToolCallID != "" || outer.Payload.AgentID != "" || outer.Payload.SubagentType != "a\ufffd\ufffd" || outer.Payload.Status != "" {
		t.Errorf("outer %+v", outer)
	}
	inner := all.launched("task", claudecode.ExecutionStart{
		ID: "2", ParentSessionID: "child", ParentToolCall: "c2", ChildSessionID: "grandchild", AgentID: "agent", Async: true,
	})
	if inner.ParentToolCallID != "c1" || inner.Payload.AgentID != "agent" || inner.Payload.Status != "async_launched" || inner.ToolStatus != "" {
		t.Errorf("inner %+v", inner)
	}
	ended := all.ended(claudecode.ExecutionEnd{ID: "2", Status: claudecode.StateFailed, Metrics: claudecode.Metrics{TotalTokens: new(int64(3))}})
	if ended.ToolCallID != "c2" || ended.ParentToolCallID != "c1" || ended.ToolStatus != "failed" || *ended.Payload.TotalTokens != 3 || !ended.Payload.IsAsync {
		t.Errorf("ended %+v", ended)
	}
}
