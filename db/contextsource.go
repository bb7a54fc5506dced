package db

import "gatehouse/domain/subagent"

// contextSource is how queries find in task_session_messages AS m the messages that
// tell of invocations of subagents.
type contextSource struct {
	call string // the id of the call, null where there is none

	// ofKind is the condition of every message of the kind, whatever else it says.
	ofKind string

	// owed is the condition of those that should have left a context: they have an
	// identity (SC-2), and the object that says more. Without it the kind is a message
	// only, and counts nowhere (SC-1).
	owed string
}

func newContextSource(d reading) contextSource {
	s := contextSource{call: d.jsonString("m.metadata", "tool_call_id")}
	s.ofKind = d.jsonString("m.metadata", "normalized", "kind") + " = '" + subagent.TaskKind + "'"
	s.owed = s.ofKind + " AND " + d.jsonObject("m.metadata", "normalized", subagent.TaskKind) +
		" AND m.session_id <> '' AND m.task_id <> '' AND " + s.call + " <> ''"
	return s
}
