package storetest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"gatehouse/domain/event"
	"gatehouse/domain/plan"
)

// leases notes whose lease is taken, and refuses them when it is made to.
type leases struct {
	taken []string
	fail  error
}

// WithLease implements plan.Lease.
func (l *leases) WithLease(ctx context.Context, taskID string, fn func(ctx context.Context) error) error {
	if l.fail != nil {
		return l.fail
	}
	l.taken = append(l.taken, taskID)
	return fn(ctx)
}

// planLease shows that whatever changes a plan or its comments takes the lease of
// the task, so that no admission's hook runs meanwhile.
func planLease(t *testing.T, w *planWorld) {
	held := new(leases)
	w.plans = plan.NewService(w.store.Plans(), w.clock, event.NewAnnouncer(nil, slog.New(slog.DiscardHandler)), held)
	p := w.save(t, "one")
	c := w.create(t, p.ID, draft()).Comments[0]
	for name, mutate := range map[string]func() error{
		"import": func() error {
			_, err := w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: p.ID, Drafts: []plan.Draft{draft()}})
			return err
		},
		"edit and delete": func() error {
			if _, err := w.plans.EditComment(t.Context(), w.edit(p.ID, c.Ref(), "x")); err != nil {
				return err
			}
			_, err := w.plans.DeleteComment(t.Context(), w.removal(p.ID, plan.Ref{ID: c.ID, Version: 2}))
			return err
		},
		"revert": func() error { _, err := w.plans.Revert(t.Context(), w.taskID, 1); return err },
	} {
		if err := mutate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	held.fail = errors.New("the lease is another's")
	before := w.snapshot(t) // a read takes none
	wantErr(t, w.plans.Delete(t.Context(), w.taskID), held.fail)
	w.wantSnapshot(t, before)
	held.fail = nil
	if err := w.plans.Delete(t.Context(), w.taskID); err != nil {
		t.Error(err)
	}
	if want := slices.Repeat([]string{w.taskID}, 7); !slices.Equal(held.taken, want) {
		t.Errorf("leases taken: %v, want that of the task 7 times", held.taken)
	}
}
