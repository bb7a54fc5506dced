package db

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain/subagent"
)

// ContextHealth implements subagent.ContextReader.
func (s contextStore) ContextHealth(ctx context.Context) (h subagent.Health, err error) {
	err = s.inRead(ctx, func(ctx context.Context, t *tx) error {
		h = subagent.Health{}
		kept, err := activationKeys(ctx, t.querier)
		if err != nil {
			return err
		}
		if h.Activation, err = subagent.ReadActivation(kept); err != nil || h.CaptureSince == nil {
			return err
		}
		found, err := t.contextFindings(ctx, subagent.AtOrAfter(*h.CaptureSince))
		h.Found = &found
		return err
	})
	return h, err
}

// contextFindings compares from a time on. A message of the widest set is of the kind,
// or issues a call of a delegation tool, as those of an import do.
func (t *tx) contextFindings(ctx context.Context, since time.Time) (f subagent.Findings, err error) {
	source := newContextSource(t.dialect)
	err = t.NewRaw(`SELECT COUNT(*) FROM (
  SELECT m.session_id, `+source.call+` FROM task_session_messages AS m WHERE m.created_at >= ? AND `+source.owed+`
  EXCEPT
  SELECT task_session_id, tool_call_id FROM task_session_subagents
) AS missing`, since).Scan(ctx, &f.Shortfall)
	if err != nil {
		return f, fmt.Errorf("count missing contexts: %w", err)
	}
	err = t.NewRaw(`SELECT COUNT(*) FROM (
  SELECT task_session_id, tool_call_id FROM task_session_subagents WHERE observed_at >= ?
  EXCEPT
  SELECT m.session_id, `+source.call+` FROM task_session_messages AS m WHERE `+source.ofKind+`
  EXCEPT
  SELECT session_id, tool_call_id FROM task_session_delegations
) AS untold`, since).Scan(ctx, &f.Excess)
	if err != nil {
		return f, fmt.Errorf("count contexts without a message: %w", err)
	}
	var last time.Time
	err = t.NewRaw(`SELECT COALESCE(SUM(n - 1), 0), MAX(last) FROM (
  SELECT COUNT(*) AS n, MAX(observed_at) AS last FROM task_session_subagents WHERE observed_at >= ?
  GROUP BY task_session_id, tool_call_id
) AS calls`, since).Scan(ctx, &f.Collisions, &last)
	if err != nil {
		return f, fmt.Errorf("count collisions: %w", err)
	}
	if !last.IsZero() {
		f.LastObservedAt = &last
	}
	return f, nil
}
