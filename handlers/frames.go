package handlers

import (
	"context"

	"github.com/oapi-codegen/nullable"

	"gatehouse/domain/history"
	"gatehouse/gen"
)

func frameResultBody(index int, r history.FrameResult) gen.FrameResult {
	body := gen.FrameResult{
		Index: int64(index), Outcome: gen.FrameOutcome(r.Outcome),
		MessageID: nullable.NewNullNullable[string](), Seq: nullable.NewNullNullable[int64](),
	}
	if r.MessageID != "" {
		body.MessageID, body.Seq = nullable.NewNullableWithValue(r.MessageID), nullable.NewNullableWithValue(r.Seq)
	}
	if r.Reason != "" {
		body.Reason = new(gen.FrameReason(r.Reason))
	}
	return body
}

// AppendFrames implements POST /v1/sessions/{session_id}/frames.
func (a *API) AppendFrames(ctx context.Context, r gen.AppendFramesRequestObject) (gen.AppendFramesResponseObject, error) {
	results, err := a.History.AppendFrames(ctx, taskOf(ctx), idOf(r.SessionID), r.Body.Frames)
	if err != nil {
		return nil, err
	}
	body := gen.AppendFrames200JSONResponse{Results: make([]gen.FrameResult, len(results))}
	for i, result := range results {
		body.Results[i] = frameResultBody(i, result)
	}
	return body, nil
}
