package storetest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// hookedTasks is how many tasks ask a hook at once.
const hookedTasks = 16

// HooksOfTwo shows what a lease promises between processes: open returns two stores
// on one database, or the same twice. Their pools may be as small as a pool can be:
// many tasks at once, with hooks that read through the store and call back, all end.
func HooksOfTwo(t *testing.T, open func(tb testing.TB) (a, b Store)) {
	t.Helper()
	a, b := open(t)
	w := newWorld(t, func(testing.TB) Store { return a })
	worlds := make([]*hookWorld, hookedTasks)
	inside := make([]atomic.Int64, hookedTasks)
	asked := make([]atomic.Int64, hookedTasks)
	for i := range worlds {
		h := newHookWorld(t, w)
		h.elsewhere = h.serviceOn(b)
		h.hook = func(ctx context.Context, turn prompt.TurnStart) (*string, error) {
			if n := inside[i].Add(1); n != 1 {
				t.Errorf("%d hooks of one task at once", n)
			}
			defer inside[i].Add(-1)
			asked[i].Add(1)
			readAsHooksDo(ctx, t, a, b, turn)
			return nil, nil //nolint:nilnil // it lets pass
		}
		worlds[i] = h
	}
	const callers = 4
	var admitted atomic.Int64
	requests := make([]prompt.Request, hookedTasks)
	for i, h := range worlds {
		requests[i] = h.request("c1", h.comment(t), h.comment(t))
	}
	crowd(callers*hookedTasks, func(n int) {
		i := n / callers
		answer, err := worlds[i].service(n).AdmitPrompt(t.Context(), requests[i])
		if err != nil {
			t.Errorf("task %d: %v", i, err)
		} else if !answer.Replayed {
			admitted.Add(1)
		}
	})
	if admitted.Load() != hookedTasks {
		t.Errorf("%d admitted, want one for each of %d tasks", admitted.Load(), hookedTasks)
	}
	for i, h := range worlds {
		if s := h.state(t); asked[i].Load() != 1 || len(s.Deliveries) != 1 || len(s.Comments.Comments) != 0 {
			t.Errorf("task %d: asked %d times, left %+v", i, asked[i].Load(), s)
		}
	}
}

// readAsHooksDo reads with the context of the hook, several at once, and with that of
// another request, as a hook does that calls back to either process.
func readAsHooksDo(ctx context.Context, t *testing.T, a, b Store, turn prompt.TurnStart) {
	var group sync.WaitGroup
	for _, read := range []func() error{
		func() error { _, err := a.Plans().CommentsSnapshot(ctx, turn.TaskID); return err },
		func() error { _, err := b.Plans().CommentsSnapshot(ctx, turn.TaskID); return err },
		func() error { _, err := a.Sessions().Session(ctx, turn.SessionID); return err },
		func() error { _, err := a.Tasks().Task(t.Context(), turn.TaskID); return err },
		func() error { _, err := b.Tasks().Task(t.Context(), turn.TaskID); return err },
		func() error {
			return b.Sessions().InTx(t.Context(), turn.TaskID, func(ctx context.Context, tx session.WriteTx) error {
				_, err := tx.LockTask(ctx, turn.TaskID)
				return err
			})
		},
	} {
		group.Go(func() {
			if err := read(); err != nil {
				t.Errorf("a hook reads: %v", err)
			}
		})
	}
	group.Wait()
}
