package handlers

import (
	"context"

	"gatehouse/domain/prompt"
	"gatehouse/gen"
)

// RunPlanComment implements POST /v1/tasks/{task_id}/plan/comments/{comment_id}/run.
func (a *API) RunPlanComment(ctx context.Context, r gen.RunPlanCommentRequestObject) (gen.RunPlanCommentResponseObject, error) {
	admitted, err := a.Prompts.Run(ctx, prompt.RunRequest{
		TaskID:    taskOf(ctx),
		CommentID: idOf(r.CommentID),
		Version:   r.Body.Version,
		ClientID:  r.Body.ClientAdmissionID,
		Content:   orZero(r.Body.Content),
	})
	switch {
	case err != nil:
		return nil, err
	case admitted.Replayed:
		return gen.RunPlanComment200JSONResponse{
			Body:    admissionBody(admitted),
			Headers: gen.RunPlanComment200ResponseHeaders{IdempotentReplayed: true},
		}, nil
	}
	return gen.RunPlanComment201JSONResponse{
		Body:    admissionBody(admitted),
		Headers: gen.RunPlanComment201ResponseHeaders{Location: receiptPath(admitted.Delivery)},
	}, nil
}
