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
	q, err := a.Prompts.Queue(ctx, taskOf(ctx), sessionOf(r.SessionID))
	if err != nil {
		return nil, err
	}
	if unchanged(r.Params.IfNoneMatch, q.Tag()) {
		return gen.GetQueue304Response{Headers: gen.GetQueue304ResponseHeaders{ETag: etag(q.Tag())}}, nil
	}
	return gen.GetQueue200JSONResponse{Body: queueBody(q), Headers: gen.GetQueue200ResponseHeaders{ETag: etag(q.Tag())}}, nil
}
