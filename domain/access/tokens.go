package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatehouse/domain"
)

// NewToken asks for a token.
type NewToken struct {
	WorkspaceID string // "": the workspace [DefaultWorkspace]
	Scope       Scope
	Label       string     // at most 500 bytes
	ExpiresAt   *time.Time // in the future; nil: never
}

func (n NewToken) validate(now time.Time) error {
	var p domain.Problems
	if !slices.Contains(Scopes, n.Scope) {
		p.Add("/body/scope", domain.ProblemEnum, "must be one of user, runner, admin")
	}
	domain.CheckText(&p, "/body/label", n.Label, domain.MaxShortText)
	if n.ExpiresAt != nil && !n.ExpiresAt.After(now) {
		p.Add("/body/expires_at", domain.ProblemRange, "must be in the future")
	} else if n.ExpiresAt != nil {
		domain.CheckTime(&p, "/body/expires_at", *n.ExpiresAt)
	}
	return p.Err()
}

// CreateToken makes a token and returns its secret, the only time it is seen. A
// workspace that does not exist is [ErrWorkspaceNotFound].
func (s *Service) CreateToken(ctx context.Context, n NewToken) (t Token, secret string, err error) {
	if err := n.validate(s.now()); err != nil {
		return Token{}, "", err
	}
	w, err := s.workspace(ctx, n.WorkspaceID)
	if err != nil {
		return Token{}, "", fmt.Errorf("create token: %w", err)
	}
	secret = newSecret()
	t = s.token(w, n, secret)
	err = s.store.InTx(ctx, func(ctx context.Context, tx Tx) error { return tx.InsertToken(ctx, t) })
	if err != nil {
		return Token{}, "", fmt.Errorf("create token: %w", err)
	}
	return t, secret, nil
}

func (s *Service) workspace(ctx context.Context, id string) (Workspace, error) {
	if id == "" {
		return s.store.WorkspaceNamed(ctx, DefaultWorkspace)
	}
	return s.store.Workspace(ctx, id)
}

func (s *Service) token(w Workspace, n NewToken, secret string) Token {
	t := Token{
		ID: domain.NewID(), WorkspaceID: w.ID, Scope: n.Scope, Label: n.Label,
		Hash: hash(secret), CreatedAt: s.now(),
	}
	if n.ExpiresAt != nil {
		t.ExpiresAt = new(n.ExpiresAt.UTC().Truncate(time.Microsecond))
	}
	return t
}

// Tokens returns one page of the tokens, revoked and expired ones included,
// oldest first.
func (s *Service) Tokens(ctx context.Context, r domain.PageRequest) (domain.Page[Token], error) {
	page, err := domain.ReadPage(r, "tokens",
		func(after *domain.Position, limit int) ([]Token, error) { return s.store.Tokens(ctx, after, limit) },
		func(t Token) domain.Position { return domain.Position{At: t.CreatedAt, ID: t.ID} })
	if err != nil {
		return domain.Page[Token]{}, fmt.Errorf("list tokens: %w", err)
	}
	return page, nil
}

// RevokeToken takes a token out of force: here at once, in other processes within
// [cacheTime]. Revoking it again changes nothing.
func (s *Service) RevokeToken(ctx context.Context, id string) error {
	var t Token
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		t, err = tx.RevokeToken(ctx, id, s.now())
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke token %s: %w", id, err)
	}
	s.known.forget(t.Hash)
	return nil
}

// Bootstrap makes, on a database without workspaces, the default workspace and
// one admin token (API-21). Its secret is the given one or, for "", a fresh one;
// it is returned only by the start that made it, else "". Of processes that start
// at once, one makes it.
func (s *Service) Bootstrap(ctx context.Context, given string) (secret string, err error) {
	if _, err := s.store.WorkspaceNamed(ctx, DefaultWorkspace); !errors.Is(err, ErrWorkspaceNotFound) {
		return "", err
	}
	if secret = given; secret == "" {
		secret = newSecret()
	}
	w := Workspace{ID: domain.NewID(), Name: DefaultWorkspace, CreatedAt: s.now()}
	var first bool
	err = s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if first, err = tx.InsertWorkspace(ctx, w); err != nil || !first {
			return err
		}
		return tx.InsertToken(ctx, s.token(w, NewToken{Scope: ScopeAdmin, Label: "first start"}, secret))
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("make the first workspace: %w", err)
	case !first:
		return "", nil
	}
	return secret, nil
}

// newSecret returns 256 random bits.
func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return "gate_" + base64.RawURLEncoding.EncodeToString(b)
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
