package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/domain"
)

// testRecovery makes passes of do, every 5 s.
func testRecovery(do ...func(ctx context.Context) error) *recovery {
	return &recovery{parts: do, every: 5 * time.Second, log: slog.New(slog.DiscardHandler)}
}

func TestRecoveryGoesOn(t *testing.T) { // DL-3
	synctest.Test(t, func(t *testing.T) {
		var passes, others atomic.Int64
		r := testRecovery(
			func(context.Context) error { passes.Add(1); return errors.New("broken") },
			func(context.Context) error { others.Add(1); return nil },
		)
		if err := r.alive(); !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("before the first pass: %v", err)
		}
		r.start(t.Context())
		if passes.Load() != 1 || others.Load() != 1 {
			t.Errorf("%d and %d passes before it is ready", passes.Load(), others.Load())
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := passes.Load(); n < 10 || n > 15 || others.Load() != n {
			t.Errorf("%d and %d passes in a minute", n, others.Load())
		}
		if err := r.alive(); err != nil {
			t.Error(err)
		}
		r.stop()
		passes.Store(0)
		time.Sleep(time.Hour)
		if err := r.alive(); passes.Load() != 0 || !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("%d passes after its end, and %v", passes.Load(), err)
		}
	})
}

func TestRecoveryThatHangsIsNotAlive(t *testing.T) { // OP-14
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		first := true
		r := testRecovery(func(context.Context) error {
			if !first {
				<-hang
			}
			first = false
			return nil
		})
		r.start(t.Context())
		time.Sleep(time.Minute)
		if err := r.alive(); err != nil {
			t.Errorf("after a minute: %v", err)
		}
		time.Sleep(10 * time.Minute)
		if err := r.alive(); !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("while it hangs: %v", err)
		}
		if err := (&readiness{recovery: r}).Ready(t.Context()); !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("ready: %v", err)
		}
		close(hang)
		synctest.Wait()
		if err := r.alive(); err != nil {
			t.Errorf("once it goes on: %v", err)
		}
		r.stop()
	})
}

// OP-10: a server that ends does not wait for a pass, and each part of one is bounded.
func TestRecoveryStopsWithinAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var causes []error
		r := testRecovery(func(ctx context.Context) error {
			<-ctx.Done()
			causes = append(causes, ctx.Err())
			return ctx.Err()
		})
		began := time.Now()
		r.start(t.Context())
		if took := time.Since(began); took != passPatience {
			t.Errorf("the first pass took %s", took)
		}
		time.Sleep(10 * time.Second)
		r.stop()
		if len(causes) != 2 || !errors.Is(causes[0], context.DeadlineExceeded) || !errors.Is(causes[1], context.Canceled) {
			t.Errorf("passes ended with %v", causes)
		}
	})
}
