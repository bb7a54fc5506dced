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

// newestSourceSQL selects the time of the newest message that [backfillSQL] looks at.
func newestSourceSQL(d reading) string {
	return `SELECT MAX(m.created_at) FROM task_session_messages AS m WHERE ` + newContextSource(d).owed
}

// backfillSQL makes contexts of messages (SC-30, SC-31). Of those of one call the newest
// counts. Its argument is the time. A live row stays, and so does what an earlier run
// left (SC-32). The rules of the columns are those of [subagent.Recorder].
//
// The join keeps a message without a session, which only a database without foreign
// keys can hold, from failing the statement.
func backfillSQL(d reading) string {
	source := newContextSource(d)
	payload := func(name string) []string { return []string{"normalized", subagent.TaskKind, name} }
	text := func(path ...string) string { return "NULLIF(" + d.jsonString("m.metadata", path...) + ", '')" }
	number := func(name string) string { return d.jsonInteger("m.metadata", payload(name)...) + " AS " + name }
	return `INSERT INTO task_session_subagents (id, task_session_id, task_id, turn_id, agent_execution_id, tool_call_id,
  parent_tool_call_id, subagent_type, description, agent_id, child_session_id, model, agent_status, tool_status,
  is_async, total_tokens, tool_use_count, duration_ms, source, observed_at, settled_at, updated_at)
SELECT id, session_id, task_id, NULLIF(turn_id, ''), '` + subagent.UnknownExecution + `', call,
  parent, subagent_type, description, agent_id, child_session_id, model, agent_status, tool_status,
  is_async,
  CASE WHEN total_tokens > 0 THEN total_tokens END,
  CASE WHEN tool_use_count >= 0 THEN tool_use_count END,
  CASE WHEN duration_ms > 0 THEN duration_ms END,
  '` + string(subagent.SourceBackfill) + `', created_at,
  CASE WHEN tool_status IN (` + settledStatuses + `) THEN updated_at END, ?
FROM (
  SELECT m.id, m.session_id, m.task_id, m.turn_id, m.created_at, m.updated_at, ` + source.call + ` AS call,
    ` + text("parent_tool_call_id") + ` AS parent, ` + text("status") + ` AS tool_status,
    ` + text(payload("status")...) + ` AS agent_status,
    ` + text(payload("subagent_type")...) + ` AS subagent_type,
    ` + text(payload("description")...) + ` AS description,
    ` + text(payload("agent_id")...) + ` AS agent_id,
    ` + text(payload("child_session_id")...) + ` AS child_session_id,
    ` + text(payload("model")...) + ` AS model,
    ` + d.jsonTruth("m.metadata", payload("is_async")...) + ` AS is_async,
    ` + number("total_tokens") + `, ` + number("tool_use_count") + `, ` + number("duration_ms") + `,
    ROW_NUMBER() OVER (PARTITION BY m.session_id, ` + source.call + ` ORDER BY m.created_at DESC, m.id DESC) AS newest
  FROM task_session_messages AS m JOIN task_sessions AS s ON s.id = m.session_id
  WHERE ` + source.owed + `
) AS told
WHERE newest = 1
ON CONFLICT DO NOTHING`
}
