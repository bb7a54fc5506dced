package db

import (
	"context"
	"fmt"

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
	// A failure so far is met again below, and told of there.
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
