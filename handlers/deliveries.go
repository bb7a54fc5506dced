package handlers

import (
	"context"

	"gatehouse/domain/prompt"
	"gatehouse/gen"
)

func deliveryBody(d prompt.Delivery) gen.Delivery {
	return gen.Delivery{
		ID: d.ID, Kind: gen.DeliveryKind(d.Kind), TaskID: d.TaskID, SessionID: d.SessionID, ClientID: nullOr(d.ClientID),
		State: gen.DeliveryState(d.State), Position: d.Position, Content: d.Content, PlanMode: d.PlanMode,
		Model: nullOr(d.Model), Attachments: each(d.Attachments, attachedBody),
		PlanCommentRefs: each(d.PlanCommentRefs, refBody), MessageID: nullOr(d.MessageID), TurnID: nullOr(d.TurnID),
		CombinedInto: nullOr(d.CombinedInto), RequeuedFrom: nullOr(d.RequeuedFrom), RequeuedAs: nullOr(d.RequeuedAs),
		Outcome: nullOr((*gen.DeliveryOutcome)(d.Outcome)), Detail: nullOr(d.Detail),
		Version: d.Version, CreatedAt: at(d.CreatedAt), UpdatedAt: at(d.UpdatedAt),
	}
}

// ListDeliveries implements GET /v1/tasks/{task_id}/deliveries.
func (a *API) ListDeliveries(ctx context.Context, r gen.ListDeliveriesRequestObject) (gen.ListDeliveriesResponseObject, error) {
	page, err := a.Prompts.Deliveries(ctx, taskOf(ctx), (*prompt.State)(r.Params.State), pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListDeliveries200JSONResponse{Items: each(page.Items, deliveryBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// GetDelivery implements GET /v1/deliveries/{delivery_id}.
func (a *API) GetDelivery(ctx context.Context, r gen.GetDeliveryRequestObject) (gen.GetDeliveryResponseObject, error) {
	d, err := a.Prompts.Delivery(ctx, idOf(r.DeliveryID))
	if err != nil {
		return nil, err
	}
	return gen.GetDelivery200JSONResponse(deliveryBody(d)), nil
}

// ReserveDelivery implements POST /v1/sessions/{session_id}/deliveries/reserve.
func (a *API) ReserveDelivery(ctx context.Context, r gen.ReserveDeliveryRequestObject) (gen.ReserveDeliveryResponseObject, error) {
	request, caller := orZero(r.Body), callerOf(ctx)
	reserved, err := a.Prompts.Await(ctx, taskOf(ctx), idOf(r.SessionID), request.LeaseSeconds, prompt.Wait{
		Seconds: request.WaitSeconds,
		Check:   func(ctx context.Context) error { return a.Access.StillInForce(ctx, caller) },
	})
	switch {
	case err != nil:
		return nil, err
	case reserved == nil:
		return gen.ReserveDelivery204Response{}, nil
	}
	return gen.ReserveDelivery200JSONResponse{
		Delivery:       deliveryBody(reserved.Delivery),
		Token:          string(reserved.Token),
		LeaseExpiresAt: at(reserved.LeaseExpiresAt),
	}, nil
}

// RenewDelivery implements POST /v1/deliveries/{delivery_id}/renew.
func (a *API) RenewDelivery(ctx context.Context, r gen.RenewDeliveryRequestObject) (gen.RenewDeliveryResponseObject, error) {
	renewed, err := a.Prompts.Renew(ctx, taskOf(ctx), idOf(r.DeliveryID), prompt.Token(r.Body.Token), r.Body.LeaseSeconds)
	if err != nil {
		return nil, err
	}
	return gen.RenewDelivery200JSONResponse{
		Delivery:       deliveryBody(renewed.Delivery),
		LeaseExpiresAt: at(renewed.LeaseExpiresAt),
	}, nil
}

// AttemptDelivery implements POST /v1/deliveries/{delivery_id}/attempt.
func (a *API) AttemptDelivery(ctx context.Context, r gen.AttemptDeliveryRequestObject) (gen.AttemptDeliveryResponseObject, error) {
	d, err := a.Prompts.Attempt(ctx, taskOf(ctx), idOf(r.DeliveryID), prompt.Token(r.Body.Token))
	if err != nil {
		return nil, err
	}
	return gen.AttemptDelivery200JSONResponse{
		Delivery:  deliveryBody(d),
		MessageID: orZero(d.MessageID),
		TurnID:    orZero(d.TurnID),
	}, nil
}

// ReleaseDelivery implements POST /v1/deliveries/{delivery_id}/release.
func (a *API) ReleaseDelivery(ctx context.Context, r gen.ReleaseDeliveryRequestObject) (gen.ReleaseDeliveryResponseObject, error) {
	d, err := a.Prompts.Release(ctx, taskOf(ctx), idOf(r.DeliveryID), prompt.Token(r.Body.Token), r.Body.Reason)
	if err != nil {
		return nil, err
	}
	return gen.ReleaseDelivery200JSONResponse(deliveryBody(d)), nil
}

// AcknowledgeDelivery implements POST /v1/deliveries/{delivery_id}/acknowledge.
func (a *API) AcknowledgeDelivery(ctx context.Context, r gen.AcknowledgeDeliveryRequestObject) (gen.AcknowledgeDeliveryResponseObject, error) {
	d, err := a.Prompts.Acknowledge(ctx, taskOf(ctx), idOf(r.DeliveryID),
		prompt.Token(r.Body.Token), prompt.Outcome(r.Body.Outcome), r.Body.Detail)
	if err != nil {
		return nil, err
	}
	return gen.AcknowledgeDelivery200JSONResponse(deliveryBody(d)), nil
}

// ResolveDelivery implements POST /v1/deliveries/{delivery_id}/resolve.
func (a *API) ResolveDelivery(ctx context.Context, r gen.ResolveDeliveryRequestObject) (gen.ResolveDeliveryResponseObject, error) {
	d, err := a.Prompts.Resolve(ctx, taskOf(ctx), idOf(r.DeliveryID), prompt.Resolution(r.Body.Resolution))
	if err != nil {
		return nil, err
	}
	return gen.ResolveDelivery200JSONResponse(deliveryBody(d)), nil
}
