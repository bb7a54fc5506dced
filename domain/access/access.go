package access

import (
	"context"
	"time"

	"gatehouse/domain"
)

// DefaultWorkspace is the name of the workspace that the first start makes (API-21).
const DefaultWorkspace = "default"

// Workspace owns tasks. It is never deleted.
type Workspace struct {
	ID        string `bun:",pk"`
	Name      string // 1 to 500 bytes, unique
	CreatedAt time.Time
}

// Token opens a workspace. Its secret is shown once and never stored.
type Token struct {
	ID          string `bun:",pk"`
	WorkspaceID string // an admin token opens every other one too
	Scope       Scope
	Label       string // at most 500 bytes, for people
	Hash        string // SHA-256 of the secret, hex
	CreatedAt   time.Time
	ExpiresAt   *time.Time // nil: never
	RevokedAt   *time.Time // nil: in force
}

// inForce reports whether t opens anything at now, a time of the database's clock.
func (t Token) inForce(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || t.ExpiresAt.After(now))
}

// Failures of this package.
var (
	ErrUnauthenticated   = &domain.Error{Kind: domain.KindUnauthenticated, Code: "unauthenticated", Detail: "Send a valid token as Authorization: Bearer."}
	ErrForbidden         = &domain.Error{Kind: domain.KindForbidden, Code: "forbidden", Detail: "The token's scope does not reach this operation; x-gatehouse-scope in /openapi.yaml names the one it takes."}
	ErrWorkspaceNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "workspace_not_found", Detail: "There is no such workspace."}
	ErrWorkspaceConflict = &domain.Error{Kind: domain.KindConflict, Code: "workspace_conflict", Detail: "A workspace of that name exists."}
	ErrTokenNotFound     = &domain.Error{Kind: domain.KindNotFound, Code: "token_not_found", Detail: "There is no such token."}
)

// Store keeps workspaces and tokens. Package storetest holds what every Store must do.
type Store interface {
	// InTx runs fn in one read-write transaction; see the other packages' stores.
	InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error

	// Workspace returns [ErrWorkspaceNotFound] when there is none.
	Workspace(ctx context.Context, id string) (Workspace, error)

	// WorkspaceNamed returns [ErrWorkspaceNotFound] when there is none.
	WorkspaceNamed(ctx context.Context, name string) (Workspace, error)

	// Workspaces and Tokens return at most limit rows, oldest first, behind after
	// when it is not nil.
	Workspaces(ctx context.Context, after *domain.Position, limit int) ([]Workspace, error)
	Tokens(ctx context.Context, after *domain.Position, limit int) ([]Token, error)

	// TokenByHash returns a token and the time by the database's clock, or
	// [ErrTokenNotFound].
	TokenByHash(ctx context.Context, hash string) (t Token, now time.Time, err error)

	// Token returns the token of an id likewise.
	Token(ctx context.Context, id string) (t Token, now time.Time, err error)

	// Place tells where a resource belongs.
	Place(ctx context.Context, r Resource, id string) (p Place, found bool, err error)
}

// Tx is what the operations of this package do in a transaction.
type Tx interface {
	// InsertWorkspace reports whether id and name were free.
	InsertWorkspace(ctx context.Context, w Workspace) (inserted bool, err error)
	InsertToken(ctx context.Context, t Token) error

	// RevokeToken revokes a token, once and for all, and returns it as it is then,
	// or [ErrTokenNotFound].
	RevokeToken(ctx context.Context, id string, at time.Time) (Token, error)
}

// Service is the set of operations on workspaces and tokens.
type Service struct {
	store  Store
	now    domain.Clock
	known  *cache[string, Caller] // tokens in force, by the hash of their secret
	places *cache[resourceKey, Place]
}

// NewService returns a Service on store.
func NewService(store Store, now domain.Clock) *Service {
	return &Service{store, now, newCache[string, Caller](), newCache[resourceKey, Place]()}
}
