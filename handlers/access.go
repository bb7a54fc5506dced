package handlers

import (
	"context"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/gen"
)

func workspaceBody(w access.Workspace) gen.Workspace {
	return gen.Workspace{ID: w.ID, Name: w.Name, CreatedAt: at(w.CreatedAt)}
}

func tokenBody(t access.Token) gen.Token {
	return gen.Token{
		ID: t.ID, WorkspaceID: t.WorkspaceID, Scope: gen.Scope(t.Scope), Label: t.Label,
		CreatedAt: at(t.CreatedAt), ExpiresAt: nullAt(t.ExpiresAt), RevokedAt: nullAt(t.RevokedAt),
	}
}

// CreateWorkspace implements POST /v1/workspaces.
func (a *API) CreateWorkspace(ctx context.Context, r gen.CreateWorkspaceRequestObject) (gen.CreateWorkspaceResponseObject, error) {
	w, err := a.Access.CreateWorkspace(ctx, r.Body.Name)
	if err != nil {
		return nil, err
	}
	return gen.CreateWorkspace201JSONResponse{
		Body:    workspaceBody(w),
		Headers: gen.CreateWorkspace201ResponseHeaders{Location: "/v1/workspaces"},
	}, nil
}

// ListWorkspaces implements GET /v1/workspaces.
func (a *API) ListWorkspaces(ctx context.Context, r gen.ListWorkspacesRequestObject) (gen.ListWorkspacesResponseObject, error) {
	page, err := a.Access.Workspaces(ctx, pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListWorkspaces200JSONResponse{Items: each(page.Items, workspaceBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// CreateToken implements POST /v1/tokens.
func (a *API) CreateToken(ctx context.Context, r gen.CreateTokenRequestObject) (gen.CreateTokenResponseObject, error) {
	made, secret, err := a.Access.CreateToken(ctx, access.NewToken{
		WorkspaceID: orZero(optionalID(r.Body.WorkspaceID)),
		Scope:       access.Scope(r.Body.Scope),
		Label:       orZero(r.Body.Label),
		ExpiresAt:   timeOf(r.Body.ExpiresAt),
	})
	if err != nil {
		return nil, err
	}
	t := tokenBody(made)
	return gen.CreateToken201JSONResponse{
		Body: gen.CreatedToken{
			ID: t.ID, Token: secret, WorkspaceID: t.WorkspaceID, Scope: t.Scope, Label: t.Label,
			CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, RevokedAt: t.RevokedAt,
		},
		Headers: gen.CreateToken201ResponseHeaders{Location: "/v1/tokens/" + t.ID},
	}, nil
}

// ListTokens implements GET /v1/tokens.
func (a *API) ListTokens(ctx context.Context, r gen.ListTokensRequestObject) (gen.ListTokensResponseObject, error) {
	page, err := a.Access.Tokens(ctx, pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListTokens200JSONResponse{Items: each(page.Items, tokenBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// RevokeToken implements DELETE /v1/tokens/{token_id}.
func (a *API) RevokeToken(ctx context.Context, r gen.RevokeTokenRequestObject) (gen.RevokeTokenResponseObject, error) {
	id, ok := domain.ParseID(r.TokenID)
	if !ok {
		return nil, access.ErrTokenNotFound
	}
	if err := a.Access.RevokeToken(ctx, id); err != nil {
		return nil, err
	}
	return gen.RevokeToken204Response{}, nil
}

// workspaceOf is the workspace that a request names, or else the caller's own:
// for an admin the default one. One the caller does not see does not exist (API-22).
func (a *API) workspaceOf(ctx context.Context, named *string) (string, error) {
	caller := callerOf(ctx)
	switch {
	case named == nil && caller.Scope == access.ScopeAdmin:
		w, err := a.Access.WorkspaceNamed(ctx, access.DefaultWorkspace)
		return w.ID, err
	case named == nil:
		return caller.WorkspaceID, nil
	case !caller.Sees(bodyID(*named)):
		return "", access.ErrWorkspaceNotFound
	}
	w, err := a.Access.Workspace(ctx, bodyID(*named))
	return w.ID, err
}
