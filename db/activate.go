package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"gatehouse/domain/subagent"
)

// activation is what follows the migrations, whatever the schema was before.
var activation = []struct {
	step string
	run  func(*Store, context.Context) error
}{
	{"backfill of subagent contexts", (*Store).backfillContexts},
	{"key of subagent executions", (*Store).noteExecutionKey},
}

// Activate does what each start does behind the migrations, under the lock that guards
// them (SC-30). The schema is the one this program knows, see [Store.Ready]. What fails
// stops no start: it is logged here, leaves nothing behind, and the next start tries
// again (SC-34).
func (s *Store) Activate(ctx context.Context) {
	var kept map[string]string
	err := s.read(ctx, func(ctx context.Context, q querier) (err error) {
		kept, err = activationKeys(ctx, q)
		return err
	})
	if err == nil && len(kept) == len(subagent.ActivationKeys) {
		return // keys are never taken back: there is nothing to wait for the lock for
	}
	err = s.dialect.guarded(ctx, s.writer, func(ctx context.Context) error {
		for _, a := range activation {
			if err := a.run(s, ctx); err != nil {
				s.log.WarnContext(ctx, "activation step failed; the next start tries again", "step", a.step, "error", err)
			}
		}
		return nil
	})
	if err != nil {
		s.log.WarnContext(ctx, "activation step failed; the next start tries again",
			"step", "lock of migrations", "error", s.classify(ctx, err))
	}
}

// activationKeys are the values of the keys that are there.
func activationKeys(ctx context.Context, q querier) (map[string]string, error) {
	var rows []struct{ Key, Value string }
	err := q.NewSelect().Table("gatehouse_meta").Column("key", "value").
		Where("key IN (?)", bun.List(subagent.ActivationKeys)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read activation: %w", err)
	}
	kept := map[string]string{}
	for _, r := range rows {
		kept[r.Key] = r.Value
	}
	return kept, nil
}

// keepKeys writes the values of keys that are not there. Nothing rewrites one (SC-33).
func (t *tx) keepKeys(ctx context.Context, values map[string]string) error {
	for key, value := range values {
		_, err := t.NewRaw("INSERT INTO gatehouse_meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING", key, value).Exec(ctx)
		if err != nil {
			return fmt.Errorf("write %s: %w", key, err)
		}
	}
	return nil
}

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
