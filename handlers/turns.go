package handlers

import (
	"context"

	"gatehouse/domain/session"
	"gatehouse/gen"
)

func turnBody(t session.Turn) gen.Turn {
	return gen.Turn{
		ID: t.ID, SessionID: t.SessionID, State: gen.TurnState(t.State), InterruptRequested: t.InterruptRequested,
		StartedAt: at(t.StartedAt), EndedAt: nullAt(t.EndedAt),
	}
}

// StartTurn implements POST /v1/sessions/{session_id}/turns.
func (a *API) StartTurn(ctx context.Context, r gen.StartTurnRequestObject) (gen.StartTurnResponseObject, error) {
	var id *string
	if r.Body != nil {
		id = r.Body.ID
	}
	t, created, err := a.Sessions.StartTurn(ctx, taskOf(ctx), idOf(r.SessionID), orZero(optionalID(id)))
	switch {
	case err != nil:
		return nil, err
	case !created:
		return gen.StartTurn200JSONResponse(turnBody(t)), nil
	}
	return gen.StartTurn201JSONResponse{
		Body:    turnBody(t),
		Headers: gen.StartTurn201ResponseHeaders{Location: "/v1/turns/" + t.ID},
	}, nil
}

// ListTurns implements GET /v1/sessions/{session_id}/turns.
func (a *API) ListTurns(ctx context.Context, r gen.ListTurnsRequestObject) (gen.ListTurnsResponseObject, error) {
	page, err := a.Sessions.Turns(ctx, idOf(r.SessionID), pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListTurns200JSONResponse{Items: each(page.Items, turnBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// EndTurn implements PATCH /v1/turns/{turn_id}.
func (a *API) EndTurn(ctx context.Context, r gen.EndTurnRequestObject) (gen.EndTurnResponseObject, error) {
	t, err := a.Sessions.EndTurn(ctx, taskOf(ctx), idOf(r.TurnID), session.TurnState(r.Body.State))
	if err != nil {
		return nil, err
	}
	return gen.EndTurn200JSONResponse(turnBody(t)), nil
}

// DeleteTurn implements DELETE /v1/turns/{turn_id}.
func (a *API) DeleteTurn(ctx context.Context, r gen.DeleteTurnRequestObject) (gen.DeleteTurnResponseObject, error) {
	if err := a.Sessions.DeleteTurn(ctx, taskOf(ctx), idOf(r.TurnID)); err != nil {
		return nil, err
	}
	return gen.DeleteTurn204Response{}, nil
}
