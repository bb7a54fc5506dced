package db

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain/subagent"
)

// backfillContexts makes contexts of the messages that were stored before contexts
// were, and notes from when on and up to when, in one transaction (SC-34). It is done
// when both keys are there; with one of them it is done again for the other.
func (s *Store) backfillContexts(ctx context.Context) error {
	return s.inTx(ctx, "", func(ctx context.Context, t *tx) error {
		kept, err := activationKeys(ctx, t.querier)
		if err != nil {
			return err
		}
		_, since := kept[subagent.KeyCaptureSince]
		if _, through := kept[subagent.KeyBackfillThrough]; since && through {
			return nil
		}
		if err := t.dialect.unhurried(ctx, t); err != nil {
			return fmt.Errorf("lift time-outs: %w", err)
		}
		// Before the insert, so that it holds all up to this time; what comes between
		// on PostgreSQL is backfilled and later than the time says.
		var through time.Time
		if err := t.NewRaw(newestSourceSQL(t.dialect)).Scan(ctx, &through); err != nil {
			return fmt.Errorf("find the newest message: %w", err)
		}
		if _, err := t.NewRaw(backfillSQL(t.dialect), t.dialect.now()).Exec(ctx); err != nil {
			return fmt.Errorf("backfill: %w", err)
		}
		// Behind the insert: what is captured from now on, no backfill has seen.
		now, err := t.now(ctx)
		if err != nil {
			return fmt.Errorf("look at the clock: %w", err)
		}
		values := map[string]string{
			subagent.KeyCaptureSince:    subagent.FormatKey(now),
			subagent.KeyBackfillThrough: subagent.NothingToBackfill,
		}
		if !through.IsZero() {
			values[subagent.KeyBackfillThrough] = subagent.FormatKey(through)
		}
		return t.keepKeys(ctx, values)
	})
}

// newestSourceSQL selects the time of the newest message that [backfillSQL] looks at.
func newestSourceSQL(d reading) string {
	return `SELECT MAX(m.created_at) FROM task_session_messages AS m WHERE ` + newContextSource(d).owed
}

// backfillSQL makes contexts of messages (SC-30, SC-31). Of those of one call the newest
// counts. Its argument is the time. A live row stays, and so does what an earlier run
// left (SC-32). What counts as not reported is what a [subagent.Report] does not report.
//
// The join keeps a message without a session, which only a database without foreign
// keys can hold, from failing the statement.
func backfillSQL(d reading) string {
	source := newContextSource(d)
	payload := func(name string) []string { return []string{"normalized", subagent.TaskKind, name} }
	text := func(path ...string) string { return "NULLIF(" + d.jsonString("m.metadata", path...) + ", '')" }
	number := func(name string) string { return d.jsonInteger("m.metadata", payload(name)...) + " AS " + name }
	return `INSERT INTO task_session_subagents (` + contextColumns + `)
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
