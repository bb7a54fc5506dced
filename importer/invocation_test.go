package importer

import (
	"testing"

	"gatehouse/importer/claudecode"
)

// What a transcript tells of a run: nested calls name the call around them, the id of a
// call is no agent's, and texts can be stored.
func TestInvocations(t *testing.T) {
	all := newInvocations()
	all.launched("task", claudecode.ExecutionStart{
		ID: "1", ParentSessionID: "main", ParentToolCall: "c1", ChildSessionID: "child", AgentID: "c1", AgentType: "a\x00\xff",
	})
	all.launched("task", claudecode.ExecutionStart{
		ID: "2", ParentSessionID: "child", ParentToolCall: "c2", ChildSessionID: "grandchild", AgentID: "agent", Async: true,
	})
	told := all.ended(claudecode.ExecutionEnd{
		ID: "2", ChildSessionID: "grandchild", Status: claudecode.StateFailed, Metrics: claudecode.Metrics{TotalTokens: new(int64(3))},
	})
	inner, ended := told[0], told[1]
	if inner.ParentToolCallID != "c1" || inner.Payload.AgentID != "agent" || inner.Payload.Status != "async_launched" || inner.ToolStatus != "" {
		t.Errorf("inner %+v", inner)
	}
	if ended.ToolCallID != "c2" || ended.ParentToolCallID != "c1" || ended.ToolStatus != "failed" || *ended.Payload.TotalTokens != 3 || !ended.Payload.IsAsync {
		t.Errorf("ended %+v", ended)
	}
	outer := all.left("child")[0] // which did not end
	if outer.ParentToolCallID != "" || outer.Payload.AgentID != "" || outer.Payload.SubagentType != "a\ufffd\ufffd" || outer.Payload.Status != "" {
		t.Errorf("outer %+v", outer)
	}
	if len(all.left("child"))+len(all.left("grandchild")) > 0 {
		t.Error("told twice")
	}
}
