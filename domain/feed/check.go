package feed

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"gatehouse/domain/access"
	"gatehouse/domain/task"
)

// check looks at every task and token that a stream here depends on, now and then and
// when it is asked to, until ctx ends: news is lost between processes (EV-4), and nobody
// tells of a token that is revoked or expires (EV-6).
func (s *Service) check(ctx context.Context) {
	for {
		tick := time.NewTimer(s.Recheck - rand.N(s.Recheck/4))
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-s.kick:
			tick.Stop()
			s.checkTasks(ctx)
		case <-tick.C:
			s.checkTasks(ctx)
			s.checkCallers(ctx)
		}
	}
}

// checkTasks tells every room where its task is, and ends those without one.
func (s *Service) checkTasks(ctx context.Context) {
	s.mu.Lock()
	rooms := maps.Clone(s.rooms)
	s.mu.Unlock()
	numbers, err := s.Store.Numbers(ctx, slices.Collect(maps.Keys(rooms)))
	if err != nil {
		s.unchecked(ctx, err)
		return
	}
	for id, r := range rooms {
		if seq, exists := numbers[id]; exists {
			r.advance(seq)
		} else {
			s.empty(r, task.ErrNotFound)
		}
	}
}

// checkCallers ends the streams of those whose token is in force no more.
func (s *Service) checkCallers(ctx context.Context) {
	for _, c := range s.present() {
		switch err := s.Guard.StillInForce(ctx, c); {
		case errors.Is(err, access.ErrUnauthenticated):
			s.expel(c, err)
		case err != nil:
			s.unchecked(ctx, err)
			return // the others would fail too; the next time is soon
		}
	}
}

// present are the callers who have a stream, each once.
func (s *Service) present() []access.Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	var callers []access.Caller
	for _, streams := range s.callers {
		for st := range streams {
			callers = append(callers, st.caller)
			break
		}
	}
	return callers
}

// expel ends the streams of a caller.
func (s *Service) expel(c access.Caller, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.callers[c.TokenID] {
		st.end(err)
	}
}

// unchecked logs that something could not be looked at. The streams go on: who cannot
// read is told when there is something to read.
func (s *Service) unchecked(ctx context.Context, err error) {
	if ctx.Err() == nil {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "event streams not checked", slog.Any("error", err))
	}
}
