package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"sync"
	"time"
)

// cacheTime is how long a token that was found in force is taken to be so without
// another look: the longest that a revocation by another process takes.
const cacheTime = time.Second

// cacheSize bounds how many tokens are remembered. One more forgets them all.
const cacheSize = 4096

// Authenticate returns whom a secret belongs to. One that is unknown, expired or
// revoked is [ErrUnauthenticated], without telling which.
func (s *Service) Authenticate(ctx context.Context, secret string) (Caller, error) {
	key := hash(secret)
	if caller, ok := s.known.get(key, s.now()); ok {
		return caller, nil
	}
	asked := s.now()
	t, now, err := s.store.TokenByHash(ctx, key)
	switch {
	case errors.Is(err, ErrTokenNotFound):
		return Caller{}, ErrUnauthenticated
	case err != nil:
		return Caller{}, fmt.Errorf("look up token: %w", err)
	case subtle.ConstantTimeCompare([]byte(t.Hash), []byte(key)) != 1,
		t.RevokedAt != nil,
		t.ExpiresAt != nil && !t.ExpiresAt.After(now):
		return Caller{}, ErrUnauthenticated
	}
	caller := Caller{TokenID: t.ID, WorkspaceID: t.WorkspaceID, Scope: t.Scope}
	lasts := cacheTime
	if t.ExpiresAt != nil {
		lasts = min(lasts, t.ExpiresAt.Sub(now))
	}
	s.known.put(key, caller, asked.Add(lasts))
	return caller, nil
}

// cache remembers tokens in force by the hash of their secret.
type cache struct {
	mu      *sync.Mutex
	entries map[string]cached
}

type cached struct {
	caller Caller
	until  time.Time
}

func newCache() cache { return cache{new(sync.Mutex), map[string]cached{}} }

func (c cache) get(key string, now time.Time) (Caller, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	return e.caller, ok && now.Before(e.until)
}

func (c cache) put(key string, caller Caller, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= cacheSize {
		clear(c.entries)
	}
	c.entries[key] = cached{caller, until}
}

func (c cache) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}
