package db

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// Contexts is the store of what is known of the invocations of subagents.
func (s *Store) Contexts() subagent.ContextStore { return contextStore{s} }

type contextStore struct{ *Store }

// contextColumns are the columns in the order in which rows of them are made.
const contextColumns = `id, task_session_id, task_id, turn_id, agent_execution_id,
  tool_call_id, parent_tool_call_id, subagent_type, description, agent_id, child_session_id, model, agent_status,
  tool_status, is_async, total_tokens, tool_use_count, duration_ms, source, observed_at, settled_at, updated_at`

// mergeContextSQL is the whole merge of one frame (SC-3 to SC-6, SC-20 to SC-22): one
// atomic statement, the same on both databases. c is the row as it is, and excluded
// what the frame says, null where it says nothing.
//
// What is not set is write-once: id, task_id, source, observed_at and the key.
var mergeContextSQL = `INSERT INTO task_session_subagents AS c (` + contextColumns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
ON CONFLICT (task_session_id, agent_execution_id, tool_call_id) DO UPDATE SET
  -- the first that is known stays
  turn_id    = COALESCE(c.turn_id, excluded.turn_id),
  settled_at = COALESCE(c.settled_at, excluded.settled_at),
  -- frozen once it is terminal
  tool_status = CASE WHEN c.tool_status IN (` + settledStatuses + `) THEN c.tool_status
    ELSE COALESCE(excluded.tool_status, c.tool_status) END,
  -- sticky
  is_async = CASE WHEN c.is_async = 1 THEN 1 ELSE excluded.is_async END,
  -- the last that is reported replaces
  parent_tool_call_id = COALESCE(excluded.parent_tool_call_id, c.parent_tool_call_id),
  subagent_type       = COALESCE(excluded.subagent_type, c.subagent_type),
  description         = COALESCE(excluded.description, c.description),
  agent_id            = COALESCE(excluded.agent_id, c.agent_id),
  child_session_id    = COALESCE(excluded.child_session_id, c.child_session_id),
  model               = COALESCE(excluded.model, c.model),
  agent_status        = COALESCE(excluded.agent_status, c.agent_status),
  total_tokens        = COALESCE(excluded.total_tokens, c.total_tokens),
  tool_use_count      = COALESCE(excluded.tool_use_count, c.tool_use_count),
  duration_ms         = COALESCE(excluded.duration_ms, c.duration_ms),
  updated_at          = excluded.updated_at`

// settledStatuses are [session.SettledToolStatuses] as a list of a statement. They are
// words without a quote.
var settledStatuses = "'" + strings.Join(session.SettledToolStatuses, "', '") + "'"

// mergeShare is how many times the connections outnumber the merges of contexts that
// may run at once. Merges can all wait, for a table that is locked, and requests that
// have nothing to do with them find a connection all the same (SC-14).
const mergeShare = 4

// MergeContexts implements subagent.ContextStore. It waits for no work of a task, in
// whose order it has no place. The statements do not travel with their COMMIT: they
// may wait for a row, and end with ctx then.
//
// The sessions are kept first, as the foreign key would do only at the first new row:
// a deletion that came between two rows would wait for one of them, be waited for by
// the next, and perhaps be the one that the database ends.
func (s contextStore) MergeContexts(ctx context.Context, contexts []subagent.Context) error {
	select {
	case s.merges <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.merges }()
	return s.inTx(ctx, "", func(ctx context.Context, t *tx) error {
		stmts := append([]stmt{t.keepSessions(contexts)}, each(contexts, t.mergeContext)...)
		if err := t.batch(ctx, stmts...); err != nil {
			return fmt.Errorf("merge contexts: %w", err)
		}
		return nil
	})
}

func (t *tx) keepSessions(contexts []subagent.Context) stmt {
	ids := each(contexts, func(c subagent.Context) string { return c.TaskSessionID })
	return query(ignored, "SELECT id FROM task_sessions WHERE "+t.dialect.among("id", 1)+" ORDER BY id"+t.dialect.keep(), t.dialect.textsArg(ids))
}

func (t *tx) mergeContext(c subagent.Context) stmt {
	var settled any
	if c.SettledAt != nil {
		settled = t.dialect.timeArg(*c.SettledAt)
	}
	isAsync := 0
	if c.IsAsync {
		isAsync = 1
	}
	return exec(mergeContextSQL, c.ID, c.TaskSessionID, c.TaskID, c.TurnID, c.AgentExecutionID, c.ToolCallID,
		c.ParentToolCallID, c.SubagentType, c.Description, c.AgentID, c.ChildSessionID, c.Model, c.AgentStatus,
		c.ToolStatus, isAsync, c.TotalTokens, c.ToolUseCount, c.DurationMS, string(c.Source),
		t.dialect.timeArg(c.ObservedAt), settled, t.dialect.timeArg(c.UpdatedAt))
}
