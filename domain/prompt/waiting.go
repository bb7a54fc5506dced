package prompt

import (
	"context"
	"math/rand/v2"
	"time"
)

// waiting is a reserve that waits. Between two looks it holds nothing.
type waiting struct {
	news    <-chan int64 // something of the task has changed; closed when the server ends
	recheck time.Duration
	look    func(ctx context.Context) (Watch, error)
	reserve func(ctx context.Context) (*Reservation, error)
	check   func(ctx context.Context) error // nil for none
}

// run tries until it gets something, at most for patience. It looks before it tries,
// so that what changes in between leads to another try.
func (w waiting) run(ctx context.Context, patience time.Duration) (*Reservation, error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for seen := (Watch{}); ; {
		now, err := w.look(ctx)
		if err != nil {
			return nil, err
		}
		if now != seen || now.Due {
			if r, err := w.reserve(ctx); err != nil || r != nil {
				return r, err
			}
			seen = now
		}
		if goOn, err := w.sleep(ctx, over.C); err != nil || !goOn {
			return nil, err
		}
		if w.check == nil {
			continue
		}
		if err := w.check(ctx); err != nil {
			return nil, err
		}
	}
}

// sleep returns when it is time to look again, or false when there is no use in it. Of
// many who began to wait together, not all look by themselves at once.
func (w waiting) sleep(ctx context.Context, over <-chan time.Time) (goOn bool, err error) {
	look := time.NewTimer(w.recheck - rand.N(w.recheck/4))
	defer look.Stop()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-over:
		return false, nil
	case _, open := <-w.news:
		return open, nil
	case <-look.C:
		return true, nil
	}
}
