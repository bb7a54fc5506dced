package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
)

// passPatience bounds each part of a pass of recovery. What it leaves, the next one finds.
const passPatience = time.Minute

// recovery makes a pass of recovery now and then, for as long as the server runs
// (DL-3), and knows whether it still does (OP-14).
type recovery struct {
	parts []func(ctx context.Context) error // of a pass: all are done, whatever fails
	every time.Duration
	log   *slog.Logger

	ended   atomic.Pointer[time.Time] // when the last pass ended, with whatever result
	running sync.WaitGroup
	cancel  context.CancelFunc
}

// newRecovery is one on prompts. On its way it looks how much is owed (OP-8), and
// removes the attachments that nobody claimed in time (AD-10).
func newRecovery(prompts *prompt.Service, every time.Duration, log *slog.Logger) *recovery {
	expire := func(ctx context.Context) error {
		_, err := prompts.ExpireAttachments(ctx)
		return err
	}
	return &recovery{
		parts: []func(context.Context) error{prompts.Recover, prompts.Measure, expire},
		every: every,
		log:   log,
	}
}

// start makes the first pass, which is over when it returns, and goes on in the
// background until stop is called.
func (r *recovery) start(ctx context.Context) {
	r.pass(ctx)
	ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.running.Go(func() { r.run(ctx) })
}

// stop returns when nothing runs any more.
func (r *recovery) stop() {
	r.cancel()
	r.running.Wait()
}

func (r *recovery) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.pause()):
			r.pass(ctx)
		}
	}
}

// pause is the time to the next pass, a little more or less, so that processes that
// were started together do not look together for ever.
func (r *recovery) pause() time.Duration {
	return r.every - r.every/8 + rand.N(r.every/4+1)
}

// pass does all of a pass. What fails is found again by the next one, so it is only
// logged.
func (r *recovery) pass(ctx context.Context) {
	for _, do := range r.parts {
		if err := bounded(ctx, do); err != nil && ctx.Err() == nil {
			r.log.LogAttrs(ctx, slog.LevelWarn, "recovery failed", slog.Any("error", err))
		}
	}
	r.ended.Store(new(time.Now()))
}

func bounded(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, passPatience)
	defer cancel()
	return do(ctx)
}

// alive is [domain.ErrUnavailable] when no pass has ended for longer than one may take.
func (r *recovery) alive() error {
	ended := r.ended.Load()
	atMost := 2*r.every + time.Duration(len(r.parts)+1)*passPatience
	if ended != nil && time.Since(*ended) < atMost {
		return nil
	}
	return fmt.Errorf("recovery does not run: %w", domain.ErrUnavailable)
}
