package handlers

import (
	"context"

	"gatehouse/domain/access"
	"gatehouse/domain/prompt"
	"gatehouse/gen"
)

// SendNow implements POST /v1/tasks/{task_id}/sessions/{session_id}/queue/send-now. A
// runner has the delivery reserved at once (DL-8).
func (a *API) SendNow(ctx context.Context, r gen.SendNowRequestObject) (gen.SendNowResponseObject, error) {
	d, token, err := a.Prompts.SendNow(ctx, prompt.SendNow{
		TaskID:           taskOf(ctx),
		SessionID:        idOf(r.SessionID),
		EntryIDs:         r.Body.EntryIds,
		ExpectedRevision: r.Body.ExpectedQueueRevision,
		Interrupt:        orZero(r.Body.Interrupt),
		Reserve:          callerOf(ctx).Scope.Includes(access.ScopeRunner),
	})
	if err != nil {
		return nil, err
	}
	body := gen.SendNow200JSONResponse{Delivery: deliveryBody(d)}
	if token != "" {
		body.Token, body.LeaseExpiresAt = new(string(token)), new(at(*d.LeaseExpiresAt))
	}
	return body, nil
}
