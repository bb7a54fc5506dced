package db

import (
	"context"
	"strconv"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/history"
)

// The work on a stretch of messages is one statement, whatever the number of runs:
// a recursion collects the runs, each with the range of its child's messages, and a
// join their changes. Large texts stay where they are.

// runSQL is what a run is to the recursion: where it was delegated, and its range.
// A run that is not over has an empty range, as has a legacy one, without a start or a
// call (HI-3, HI-5). One that crashed, terminal without an end, ends where the next
// run of its child started, else at the child's last message; a child that was
// deleted has none behind (HI-25).
const runSQL = `e.id, e.parent_message_seq, e.parent_call_ordinal, e.started_at, e.child_session_id, e.agent_type,
  COALESCE(e.start_message_seq, 0),
  CASE WHEN e.status = 'running' OR e.start_message_seq IS NULL OR e.parent_tool_call_id IS NULL THEN 0
    WHEN e.end_message_seq IS NOT NULL THEN e.end_message_seq
    ELSE COALESCE(
      (SELECT n.start_message_seq FROM subagent_executions AS n
       WHERE n.child_session_id = e.child_session_id AND n.run > e.run AND n.start_message_seq IS NOT NULL
       ORDER BY n.run LIMIT 1),
      (SELECT s.last_message_seq FROM task_sessions AS s WHERE s.id = e.child_session_id),
      9223372036854775807)
  END`

// Conditions on a row of another table are values here, not EXISTS: PostgreSQL makes
// a join of that, and without statistics reads the whole table, or session, once for
// every run (20 times slower at 20,000 messages).

// followed leaves out side tasks, which are tasks of their own (HI-22).
const followed = `COALESCE((SELECT s.kind FROM task_sessions AS s WHERE s.id = e.child_session_id), '') <> 'side_task'`

const changeSQL = `COALESCE(c.id, ''), COALESCE(c.message_id, ''), COALESCE(c.message_seq, 0), COALESCE(c.ordinal, 0),
  COALESCE(c.path, ''), COALESCE(c.path_key, ''), c.old_path, c.old_path_key, COALESCE(c.change_type, ''),
  COALESCE(c.diff_mode, ''), COALESCE(c.patch_truncated, false), c.diff_unavailable_reason,
  c.lines_added, c.lines_deleted, c.tool_call_id, c.created_at, COALESCE(c.text_bytes, 0),
  CASE WHEN c.text_bytes <= $4 THEN c.before_content END, CASE WHEN c.text_bytes <= $4 THEN c.after_content END,
  CASE WHEN c.text_bytes <= $4 THEN c.patch END`

// visibleAt is that the message of $1 with this seq was not rolled back.
func visibleAt(seq string) string {
	return `(SELECT 1 FROM task_session_messages AS m
      WHERE m.session_id = $1 AND m.seq = ` + seq + ` AND m.deleted_at IS NULL) = 1`
}

// workSQL: $1 is the session, $2 and $3 the first and last seq, and $4 the most bytes
// of the texts that are read. The trail is the
// sessions on the way to a run: one that is on it already is a cycle, and ends.
func workSQL(d phrasing) string {
	return `WITH RECURSIVE runs (id, message_seq, call_ordinal, started_at, child_session_id, agent_type,
  start_seq, end_seq, parent_id, depth, trail) AS (
  SELECT ` + runSQL + `, e.id, 1, e.parent_session_id || ' ' || e.child_session_id
  FROM subagent_executions AS e
  WHERE e.parent_session_id = $1 AND e.parent_message_seq BETWEEN $2 AND $3
    AND e.child_session_id <> e.parent_session_id AND ` + followed + `
    AND ` + visibleAt("e.parent_message_seq") + `
  UNION ALL
  SELECT ` + runSQL + `, r.id, r.depth + 1, r.trail || ' ' || e.child_session_id
  FROM runs AS r JOIN subagent_executions AS e ON e.parent_session_id = r.child_session_id
    AND e.parent_message_seq > r.start_seq AND e.parent_message_seq <= r.end_seq
  WHERE r.depth < ` + strconv.Itoa(domain.MaxNesting) + `
    AND r.trail NOT LIKE '%' || e.child_session_id || '%' AND ` + followed + `
)
SELECT r.id, r.parent_id, r.message_seq, r.call_ordinal, r.started_at, r.child_session_id, r.agent_type, ` + changeSQL + `
FROM runs AS r ` + d.joinEach("message_file_changes", "c",
		"c.session_id = r.child_session_id AND c.message_seq > r.start_seq AND c.message_seq <= r.end_seq") + `
UNION ALL
SELECT '', '', 0, NULL, NULL, '', NULL, ` + changeSQL + `
FROM message_file_changes AS c
WHERE c.session_id = $1 AND c.message_seq BETWEEN $2 AND $3
  AND ` + visibleAt("c.message_seq")
}

// Work implements history.ReadTx.
func (t *tx) Work(ctx context.Context, sessionID string, first, last, small int64) (history.Work, error) {
	rows := workRows{sessionID: sessionID, at: map[[2]string]int{}}
	err := t.batch(ctx, query(rows.add, workSQL(t.dialect), sessionID, first, last, small))
	return rows.work, err
}

// workRows collects the rows of workSQL.
type workRows struct {
	sessionID string
	work      history.Work
	at        map[[2]string]int // where a run stands, by its id and its parent's
}

func (w *workRows) add(scan func(...any) error) error {
	var r history.Run
	var c history.FileChange
	var started any // the same for all rows of a run: read once
	var created *time.Time
	err := scan(&r.ID, &r.ParentID, &r.MessageSeq, &r.CallOrdinal, &started, &r.ChildSessionID, &r.AgentType,
		&c.ID, &c.MessageID, &c.MessageSeq, &c.Ordinal, &c.Path, &c.PathKey, &c.OldPath, &c.OldPathKey, &c.ChangeType,
		&c.DiffMode, &c.PatchTruncated, &c.DiffUnavailableReason, &c.LinesAdded, &c.LinesDeleted, &c.ToolCallID,
		scanNullTime(&created), &c.TextBytes, &c.BeforeContent, &c.AfterContent, &c.Patch)
	if err != nil {
		return err
	}
	if created != nil {
		c.CreatedAt = *created
	}
	if r.ID == "" {
		c.SessionID = w.sessionID
		w.work.Own = append(w.work.Own, c)
		return nil
	}
	run, err := w.run(r, started)
	if err != nil {
		return err
	}
	if c.ID != "" {
		c.SessionID = r.ChildSessionID
		run.Changes = append(run.Changes, c)
	}
	return nil
}

// run is where r is collected.
func (w *workRows) run(r history.Run, started any) (*history.Run, error) {
	key := [2]string{r.ID, r.ParentID}
	at, known := w.at[key]
	if !known {
		if err := scanTime(&r.StartedAt).Scan(started); err != nil {
			return nil, err
		}
		at = len(w.work.Runs)
		w.at[key] = at
		w.work.Runs = append(w.work.Runs, r)
	}
	return &w.work.Runs[at], nil
}
