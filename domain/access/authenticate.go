package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"
)

// cacheTime is how long a token that was found in force is taken to be so without
// another look: the longest that a revocation by another process takes.
const cacheTime = time.Second

// placeTime is how long the place of a task or session is remembered. It does not
// change while the thing exists, and another workspace never gets the id of one
// that was deleted; but its own may, for another task.
const placeTime = time.Second

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
	case subtle.ConstantTimeCompare([]byte(t.Hash), []byte(key)) != 1, !t.inForce(now):
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

// StillInForce is [ErrUnauthenticated] when the token of a caller, who was
// authenticated before, is not in force any more. It always asks the store: for those
// who wait, and must not get something that was forbidden meanwhile. Where
// authentication is off, everybody stays who they are.
func (s *Service) StillInForce(ctx context.Context, c Caller) error {
	if c.TokenID == "" {
		return nil
	}
	t, now, err := s.store.Token(ctx, c.TokenID)
	switch {
	case errors.Is(err, ErrTokenNotFound):
		return ErrUnauthenticated
	case err != nil:
		return fmt.Errorf("look up token: %w", err)
	case !t.inForce(now):
		s.known.forget(t.Hash)
		return ErrUnauthenticated
	}
	return nil
}
