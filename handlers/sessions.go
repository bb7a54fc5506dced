package handlers

import (
	"context"

	"gatehouse/domain/session"
	"gatehouse/gen"
)

func sessionBody(s session.Session) gen.Session {
	return gen.Session{
		ID: s.ID, TaskID: s.TaskID, Kind: gen.SessionKind(s.Kind), ParentSessionID: nullOr(s.ParentSessionID),
		AgentType: nullOr(s.AgentType), Title: s.Title, WorkspacePath: nullOr(s.WorkspacePath),
		State: gen.SessionState(s.State), AutoRun: s.AutoRun, IncarnationID: s.IncarnationID,
		LastSeq: s.LastMessageSeq, QueueRevision: s.QueueRevision, CreatedAt: at(s.CreatedAt), UpdatedAt: at(s.UpdatedAt),
	}
}

// unavailableMembers is what session_unavailable says of the session.
func unavailableMembers(e *session.UnavailableError) map[string]any {
	return map[string]any{"session_id": e.SessionID, "session_state": e.State, "reason": e.Reason}
}

// CreateSession implements POST /v1/tasks/{task_id}/sessions.
func (a *API) CreateSession(ctx context.Context, r gen.CreateSessionRequestObject) (gen.CreateSessionResponseObject, error) {
	s, created, err := a.Sessions.Create(ctx, session.New{
		ID:              orZero(optionalID(r.Body.ID)),
		TaskID:          taskOf(ctx),
		Kind:            session.Kind(r.Body.Kind),
		ParentSessionID: optionalID(r.Body.ParentSessionID),
		AgentType:       r.Body.AgentType,
		Title:           orZero(r.Body.Title),
		WorkspacePath:   r.Body.WorkspacePath,
	})
	switch {
	case err != nil:
		return nil, err
	case !created:
		return gen.CreateSession200JSONResponse(sessionBody(s)), nil
	}
	return gen.CreateSession201JSONResponse{
		Body:    sessionBody(s),
		Headers: gen.CreateSession201ResponseHeaders{Location: "/v1/sessions/" + s.ID},
	}, nil
}

// ListSessions implements GET /v1/tasks/{task_id}/sessions.
func (a *API) ListSessions(ctx context.Context, r gen.ListSessionsRequestObject) (gen.ListSessionsResponseObject, error) {
	page, err := a.Sessions.List(ctx, taskOf(ctx), pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListSessions200JSONResponse{Items: each(page.Items, sessionBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// GetSession implements GET /v1/sessions/{session_id}.
func (a *API) GetSession(ctx context.Context, r gen.GetSessionRequestObject) (gen.GetSessionResponseObject, error) {
	s, err := a.Sessions.Get(ctx, idOf(r.SessionID))
	if err != nil {
		return nil, err
	}
	return gen.GetSession200JSONResponse(sessionBody(s)), nil
}
