package storetest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
)

// hookFunc is a hook written as a function.
type hookFunc func(ctx context.Context, turn prompt.TurnStart) (replacement *string, err error)

// BeforeTurn implements prompt.Hook.
func (f hookFunc) BeforeTurn(ctx context.Context, turn prompt.TurnStart) (*string, error) {
	return f(ctx, turn)
}

// hookWorld is a promptWorld whose services ask a hook. Its steps are noted.
type hookWorld struct {
	*promptWorld
	steps *steps
	hook  hookFunc // nil lets pass
}

// hookCases runs tests, each on a store of its own.
func hookCases(t *testing.T, open Open, tests map[string]func(*testing.T, *hookWorld)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newHookWorld(t, newWorld(t, open))) })
	}
}

// newHookWorld adds a task to w whose admissions and plan changes take the lease.
func newHookWorld(t *testing.T, w *world) *hookWorld {
	t.Helper()
	h := &hookWorld{promptWorld: newPromptWorld(t, w), steps: new(steps)}
	h.prompts = h.serviceOn(w.store)
	h.plans = plan.NewService(w.store.Plans(), w.clock, event.NewAnnouncer(w.notices, nil), w.store)
	h.elsewhere = h.prompts
	return h
}

// serviceOn is a service that asks the hook, as a process on store has it.
func (h *hookWorld) serviceOn(store Store) *prompt.Service {
	return prompt.NewService(prompt.Config{
		Store:    notedStore{store.Prompts(), h.steps},
		Now:      h.clock,
		Announce: event.NewAnnouncer(h.notices, nil),
		Hook:     hookFunc(h.before),
		Lease:    notedLease{store, h.steps},
	})
}

// refused is an admission that must fail and leave no trace (AD-3), whatever was
// announced before it.
func (h *hookWorld) refused(t *testing.T, r prompt.Request) error {
	t.Helper()
	h.notices.take()
	return h.promptWorld.refused(t, r)
}

func (h *hookWorld) before(ctx context.Context, turn prompt.TurnStart) (*string, error) {
	h.steps.note("hook")
	if h.hook == nil {
		return nil, nil //nolint:nilnil // the session that was named is right
	}
	return h.hook(ctx, turn)
}

// steps are what an admission did, in order.
type steps struct {
	mu    sync.Mutex
	taken []string
}

func (s *steps) note(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, step)
}

// want fails the test unless these steps were taken since the last look.
func (s *steps) want(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.taken, want) {
		t.Errorf("steps were %q, want %q", s.taken, want)
	}
	s.taken = nil
}

// notedStore notes when an admission looks and when it writes.
type notedStore struct {
	prompt.Store
	steps *steps
}

// Scene implements prompt.Store.
func (s notedStore) Scene(ctx context.Context, q prompt.SceneQuery) (prompt.Scene, error) {
	s.steps.note("look")
	return s.Store.Scene(ctx, q)
}

// Admit implements prompt.Store.
func (s notedStore) Admit(ctx context.Context, q prompt.SceneQuery, decide func(prompt.Scene) (*prompt.Acceptance, error)) error {
	s.steps.note("transaction")
	return s.Store.Admit(ctx, q, decide)
}

// notedLease notes when the lease is held.
type notedLease struct {
	plan.Lease
	steps *steps
}

// WithLease implements plan.Lease.
func (l notedLease) WithLease(ctx context.Context, taskID string, fn func(ctx context.Context) error) error {
	defer l.steps.note("end of lease")
	return l.Lease.WithLease(ctx, taskID, func(ctx context.Context) error {
		l.steps.note("lease")
		return fn(ctx)
	})
}
