package handlers

import (
	"context"

	"gatehouse/domain/access"
	"gatehouse/domain/session"
	"gatehouse/gen"
)

// UpdateSession implements PATCH /v1/sessions/{session_id}. Its state is a
// runner's to change.
func (a *API) UpdateSession(ctx context.Context, r gen.UpdateSessionRequestObject) (gen.UpdateSessionResponseObject, error) {
	patch := session.Patch{Title: r.Body.Title, AutoRun: r.Body.AutoRun, State: (*session.State)(r.Body.State)}
	if patch.State != nil && !callerOf(ctx).Scope.Includes(access.ScopeRunner) {
		return nil, access.ErrForbidden
	}
	s, err := a.Lifecycle.UpdateSession(ctx, taskOf(ctx), idOf(r.SessionID), patch)
	if err != nil {
		return nil, err
	}
	return gen.UpdateSession200JSONResponse(sessionBody(s)), nil
}

// DeleteSession implements DELETE /v1/sessions/{session_id}.
func (a *API) DeleteSession(ctx context.Context, r gen.DeleteSessionRequestObject) (gen.DeleteSessionResponseObject, error) {
	if err := a.Lifecycle.DeleteSession(ctx, taskOf(ctx), idOf(r.SessionID)); err != nil {
		return nil, err
	}
	return gen.DeleteSession204Response{}, nil
}

// ResetSession implements POST /v1/sessions/{session_id}/reset.
func (a *API) ResetSession(ctx context.Context, r gen.ResetSessionRequestObject) (gen.ResetSessionResponseObject, error) {
	var expected *string
	if r.Body != nil {
		expected = optionalID(r.Body.ExpectedIncarnationID)
	}
	s, err := a.Lifecycle.ResetSession(ctx, taskOf(ctx), idOf(r.SessionID), expected)
	if err != nil {
		return nil, err
	}
	return gen.ResetSession200JSONResponse(sessionBody(s)), nil
}

// DeleteTask implements DELETE /v1/tasks/{task_id}.
func (a *API) DeleteTask(ctx context.Context, _ gen.DeleteTaskRequestObject) (gen.DeleteTaskResponseObject, error) {
	if err := a.Lifecycle.DeleteTask(ctx, taskOf(ctx)); err != nil {
		return nil, err
	}
	return gen.DeleteTask204Response{}, nil
}
