package db

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/domain/subagent"
)

// noteExecutionKey notes when the schema was first seen to keep executions apart.
func (s *Store) noteExecutionKey(ctx context.Context) error {
	return s.inTx(ctx, "", func(ctx context.Context, t *tx) error {
		indexes, err := t.contextIndexes(ctx)
		if err != nil || !keepExecutionsApart(indexes) {
			return err
		}
		now, err := t.now(ctx)
		if err != nil {
			return fmt.Errorf("look at the clock: %w", err)
		}
		return t.keepKeys(ctx, map[string]string{subagent.KeyExecutionSince: subagent.FormatKey(now)})
	})
}

// uniqueIndex is a unique index of a table.
type uniqueIndex struct {
	total   bool // holds all rows
	columns []string
}

func (t *tx) contextIndexes(ctx context.Context) (map[string]uniqueIndex, error) {
	indexes := map[string]uniqueIndex{}
	err := t.batch(ctx, query(func(scan func(dest ...any) error) error {
		var name, column string
		var total bool
		if err := scan(&name, &total, &column); err != nil {
			return err
		}
		indexes[name] = uniqueIndex{total, append(indexes[name].columns, column)}
		return nil
	}, t.dialect.uniqueIndexes(), "task_session_subagents"))
	if err != nil {
		return nil, fmt.Errorf("look at the schema: %w", err)
	}
	return indexes, nil
}

// keepExecutionsApart reports whether contexts of two executions are two rows: the key
// has the execution, and no other key goes without.
func keepExecutionsApart(indexes map[string]uniqueIndex) bool {
	apart := false
	for _, i := range indexes {
		switch columns := slices.Sorted(slices.Values(i.columns)); {
		case slices.Equal(columns, []string{"task_session_id", "tool_call_id"}):
			return false
		case slices.Equal(i.columns, []string{"task_session_id", "agent_execution_id", "tool_call_id"}) && i.total:
			apart = true
		}
	}
	return apart
}
