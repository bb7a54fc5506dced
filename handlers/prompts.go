package handlers

import (
	"context"
	"net/url"

	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/gen"
)

func admissionBody(a prompt.Admitted) gen.Admission {
	body := gen.Admission{
		Delivery: deliveryBody(a.Delivery),
		Message:  nullOrBody(a.Message, messageBody),
		Snapshot: nullOrBody(a.Snapshot, snapshotBody),
		Replayed: a.Replayed,
	}
	if a.RequestedSessionID != a.Delivery.SessionID {
		body.RequestedSessionID = &a.RequestedSessionID
	}
	return body
}

func receiptBody(r prompt.Receipt) gen.Receipt {
	d, a := r.Delivery, r.Admission
	b := deliveryBody(d)
	return gen.Receipt{
		ID: b.ID, Kind: b.Kind, TaskID: b.TaskID, SessionID: b.SessionID, ClientID: a.ClientID, State: b.State,
		Position: b.Position, Content: b.Content, PlanMode: b.PlanMode, Model: b.Model,
		Attachments: b.Attachments, PlanCommentRefs: b.PlanCommentRefs,
		MessageID: b.MessageID, TurnID: b.TurnID, CombinedInto: b.CombinedInto, RequeuedFrom: b.RequeuedFrom,
		RequeuedAs: b.RequeuedAs, Outcome: b.Outcome, Detail: b.Detail,
		Version: b.Version, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
		RequestedSessionID: a.RequestedSessionID, ConsumedCommentRefs: each(a.ConsumedCommentRefs, refBody),
		PendingAt: nullAt(&d.PendingAt), ReservedAt: nullAt(d.ReservedAt), AttemptedAt: nullAt(d.AttemptedAt),
		AcknowledgedAt: nullAt(d.AcknowledgedAt), OutcomeUnknownAt: nullAt(d.OutcomeUnknownAt),
		CombinedAt: nullAt(d.CombinedAt), RequeuedAt: nullAt(d.RequeuedAt),
		CancelledAt: nullAt(d.CancelledAt), DiscardedAt: nullAt(d.DiscardedAt),
	}
}

func refBody(r plan.Ref) gen.CommentRef { return gen.CommentRef{ID: r.ID, Version: r.Version} }

func refOf(r gen.CommentRef) plan.Ref { return plan.Ref{ID: r.ID, Version: r.Version} }

// conflictMembers is what admission_conflict says of the two requests.
func conflictMembers(e *prompt.ConflictError) map[string]any {
	return map[string]any{"differing_fields": e.DifferingFields}
}

// primaryMembers is what primary_session_changed says of the primary session.
func primaryMembers(e *prompt.PrimaryChangedError) map[string]any {
	return map[string]any{"primary_session_id": e.SessionID, "primary_session_state": e.State}
}

// tooLargeMembers is what prompt_too_large says of the size.
func tooLargeMembers(e *prompt.TooLargeError) map[string]any {
	return map[string]any{"maximum": e.Maximum, "actual": e.Actual}
}

// AdmitPrompt implements POST /v1/tasks/{task_id}/sessions/{session_id}/prompts.
func (a *API) AdmitPrompt(ctx context.Context, r gen.AdmitPromptRequestObject) (gen.AdmitPromptResponseObject, error) {
	admitted, err := a.Prompts.AdmitPrompt(ctx, prompt.Request{
		TaskID:         taskOf(ctx),
		SessionID:      idOf(r.SessionID),
		ClientID:       r.Body.ClientMessageID,
		Content:        orZero(r.Body.Content),
		Refs:           each(r.Body.PlanCommentRefs, refOf),
		RequirePrimary: orZero(r.Body.RequirePrimarySession),
		PlanMode:       orZero(r.Body.PlanMode),
		Model:          r.Body.Model,
		AttachmentIDs:  r.Body.AttachmentIds,
		Metadata:       r.Body.Metadata,
		ExpectedState:  (*session.State)(r.Body.ExpectedSessionState),
	})
	switch {
	case err != nil:
		return nil, err
	case admitted.Replayed:
		return gen.AdmitPrompt200JSONResponse{
			Body:    admissionBody(admitted),
			Headers: gen.AdmitPrompt200ResponseHeaders{IdempotentReplayed: true},
		}, nil
	}
	return gen.AdmitPrompt201JSONResponse{
		Body:    admissionBody(admitted),
		Headers: gen.AdmitPrompt201ResponseHeaders{Location: receiptPath(admitted.Delivery)},
	}, nil
}

// receiptPath is where the receipt of a delivery with a client id is read.
func receiptPath(d prompt.Delivery) string {
	return "/v1/tasks/" + d.TaskID + "/admissions/" + url.PathEscape(orZero(d.ClientID))
}

// GetAdmission implements GET /v1/tasks/{task_id}/admissions/{client_id}.
func (a *API) GetAdmission(ctx context.Context, r gen.GetAdmissionRequestObject) (gen.GetAdmissionResponseObject, error) {
	clientID, err := url.PathUnescape(r.ClientID)
	if err != nil {
		return nil, prompt.ErrAdmissionNotFound
	}
	receipt, err := a.Prompts.Receipt(ctx, taskOf(ctx), clientID)
	if err != nil {
		return nil, err
	}
	return gen.GetAdmission200JSONResponse(receiptBody(receipt)), nil
}
