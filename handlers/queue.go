package handlers

import (
	"context"

	"gatehouse/domain/prompt"
	"gatehouse/gen"
)

func queueBody(q prompt.Queue) gen.Queue {
	return gen.Queue{
		SessionID:     q.SessionID,
		QueueRevision: q.Revision,
		Capacity:      q.Capacity,
		AutoRun:       q.AutoRun,
		Entries:       each(q.Entries, deliveryBody),
	}
}

// queueFullMembers is what queue_full says of the sizes (AD-5).
func queueFullMembers(e *prompt.QueueFullError) map[string]any {
	return map[string]any{"size": e.Size, "maximum": e.Maximum}
}

// queueChangedMembers is queue_changed {queue}.
func queueChangedMembers(e *prompt.QueueChangedError) map[string]any {
	return map[string]any{"queue": queueBody(e.Queue)}
}

// GetQueue implements GET /v1/tasks/{task_id}/sessions/{session_id}/queue.
func (a *API) GetQueue(ctx context.Context, r gen.GetQueueRequestObject) (gen.GetQueueResponseObject, error) {
	q, err := a.Prompts.Queue(ctx, taskOf(ctx), idOf(r.SessionID))
	if err != nil {
		return nil, err
	}
	if unchanged(r.Params.IfNoneMatch, q.Tag()) {
		return gen.GetQueue304Response{Headers: gen.GetQueue304ResponseHeaders{ETag: etag(q.Tag())}}, nil
	}
	return gen.GetQueue200JSONResponse{Body: queueBody(q), Headers: gen.GetQueue200ResponseHeaders{ETag: etag(q.Tag())}}, nil
}

// AdmitQueued implements POST /v1/tasks/{task_id}/sessions/{session_id}/queue.
func (a *API) AdmitQueued(ctx context.Context, r gen.AdmitQueuedRequestObject) (gen.AdmitQueuedResponseObject, error) {
	admitted, err := a.Prompts.AdmitQueued(ctx, prompt.Request{
		TaskID:         taskOf(ctx),
		SessionID:      idOf(r.SessionID),
		ClientID:       r.Body.ClientQueueID,
		Content:        orZero(r.Body.Content),
		Refs:           each(r.Body.PlanCommentRefs, refOf),
		RequirePrimary: orZero(r.Body.RequirePrimarySession),
		PlanMode:       orZero(r.Body.PlanMode),
		Model:          r.Body.Model,
		AttachmentIDs:  r.Body.AttachmentIds,
		Metadata:       r.Body.Metadata,
		IncarnationID:  optionalID(r.Body.SessionIncarnationID),
	})
	switch {
	case err != nil:
		return nil, err
	case admitted.Replayed:
		return gen.AdmitQueued200JSONResponse{
			Body:    admissionBody(admitted),
			Headers: gen.AdmitQueued200ResponseHeaders{IdempotentReplayed: true},
		}, nil
	}
	return gen.AdmitQueued201JSONResponse{
		Body:    admissionBody(admitted),
		Headers: gen.AdmitQueued201ResponseHeaders{Location: receiptPath(admitted.Delivery)},
	}, nil
}

// EditQueueEntry implements PATCH /v1/tasks/{task_id}/sessions/{session_id}/queue/{entry_id}.
func (a *API) EditQueueEntry(ctx context.Context, r gen.EditQueueEntryRequestObject) (gen.EditQueueEntryResponseObject, error) {
	after, err := a.Prompts.EditEntry(ctx, prompt.EntryEdit{
		TaskID:          taskOf(ctx),
		SessionID:       idOf(r.SessionID),
		EntryID:         idOf(r.EntryID),
		Content:         r.Body.Content,
		ExpectedVersion: r.Body.ExpectedVersion,
	})
	if err != nil {
		return nil, err
	}
	return gen.EditQueueEntry200JSONResponse{
		Body: queueBody(after), Headers: gen.EditQueueEntry200ResponseHeaders{ETag: etag(after.Tag())},
	}, nil
}

// RemoveQueueEntry implements DELETE /v1/tasks/{task_id}/sessions/{session_id}/queue/{entry_id}.
func (a *API) RemoveQueueEntry(ctx context.Context, r gen.RemoveQueueEntryRequestObject) (gen.RemoveQueueEntryResponseObject, error) {
	after, err := a.Prompts.RemoveEntry(ctx, taskOf(ctx), idOf(r.SessionID), idOf(r.EntryID))
	if err != nil {
		return nil, err
	}
	return gen.RemoveQueueEntry200JSONResponse{
		Body: queueBody(after), Headers: gen.RemoveQueueEntry200ResponseHeaders{ETag: etag(after.Tag())},
	}, nil
}

// ReorderQueue implements PUT /v1/tasks/{task_id}/sessions/{session_id}/queue/order.
func (a *API) ReorderQueue(ctx context.Context, r gen.ReorderQueueRequestObject) (gen.ReorderQueueResponseObject, error) {
	after, err := a.Prompts.Reorder(ctx, taskOf(ctx), idOf(r.SessionID), each(r.Body.EntryIds, bodyID))
	if err != nil {
		return nil, err
	}
	return gen.ReorderQueue200JSONResponse{
		Body: queueBody(after), Headers: gen.ReorderQueue200ResponseHeaders{ETag: etag(after.Tag())},
	}, nil
}

// AppendToQueue implements POST /v1/tasks/{task_id}/sessions/{session_id}/queue/append.
func (a *API) AppendToQueue(ctx context.Context, r gen.AppendToQueueRequestObject) (gen.AppendToQueueResponseObject, error) {
	after, replayed, err := a.Prompts.Append(ctx, prompt.Addition{
		TaskID:    taskOf(ctx),
		SessionID: idOf(r.SessionID),
		ClientID:  r.Body.ClientQueueID,
		Content:   r.Body.Content,
		PlanMode:  orZero(r.Body.PlanMode),
		Model:     r.Body.Model,
	})
	if err != nil {
		return nil, err
	}
	headers := gen.AppendToQueue200ResponseHeaders{ETag: etag(after.Tag())}
	if replayed {
		headers.IdempotentReplayed = &replayed
	}
	return gen.AppendToQueue200JSONResponse{Body: queueBody(after), Headers: headers}, nil
}
