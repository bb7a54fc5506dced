package handlers

import (
	"context"

	"gatehouse/domain/plan"
	"gatehouse/gen"
)

// ListPlanComments implements GET /v1/tasks/{task_id}/plan/comments.
func (a *API) ListPlanComments(ctx context.Context, r gen.ListPlanCommentsRequestObject) (gen.ListPlanCommentsResponseObject, error) {
	found, err := a.Plans.Comments(ctx, taskOf(ctx))
	if err != nil {
		return nil, err
	}
	tag := etag(found.Tag())
	if unchanged(r.Params.IfNoneMatch, found.Tag()) {
		return gen.ListPlanComments304Response{Headers: gen.ListPlanComments304ResponseHeaders{ETag: tag}}, nil
	}
	return gen.ListPlanComments200JSONResponse{Body: snapshotBody(found), Headers: gen.ListPlanComments200ResponseHeaders{ETag: tag}}, nil
}

// CreatePlanComment implements POST /v1/tasks/{task_id}/plan/comments.
func (a *API) CreatePlanComment(ctx context.Context, r gen.CreatePlanCommentRequestObject) (gen.CreatePlanCommentResponseObject, error) {
	after, replayed, err := a.Plans.CreateComment(ctx, plan.NewComment{
		TaskID: taskOf(ctx),
		PlanID: r.Body.PlanID,
		Draft: plan.Draft{
			ID:           r.Body.ID,
			Body:         r.Body.Body,
			SelectedText: r.Body.SelectedText,
			AnchorFrom:   r.Body.AnchorFrom,
			AnchorTo:     r.Body.AnchorTo,
		},
	})
	if err != nil {
		return nil, err
	}
	body, tag := snapshotBody(after), etag(after.Tag())
	if replayed {
		return gen.CreatePlanComment200JSONResponse{Body: body, Headers: gen.CreatePlanComment200ResponseHeaders{ETag: tag}}, nil
	}
	return gen.CreatePlanComment201JSONResponse{Body: body, Headers: gen.CreatePlanComment201ResponseHeaders{
		ETag:     tag,
		Location: "/v1/tasks/" + taskOf(ctx) + "/plan/comments/" + bodyID(r.Body.ID),
	}}, nil
}

// UpdatePlanComment implements PATCH /v1/tasks/{task_id}/plan/comments/{comment_id}.
func (a *API) UpdatePlanComment(ctx context.Context, r gen.UpdatePlanCommentRequestObject) (gen.UpdatePlanCommentResponseObject, error) {
	after, err := a.Plans.EditComment(ctx, plan.CommentEdit{
		TaskID:          taskOf(ctx),
		ID:              r.CommentID,
		PlanID:          r.Body.PlanID,
		ExpectedVersion: r.Body.ExpectedVersion,
		Body:            r.Body.Body,
	})
	if err != nil {
		return nil, err
	}
	return gen.UpdatePlanComment200JSONResponse{
		Body: snapshotBody(after), Headers: gen.UpdatePlanComment200ResponseHeaders{ETag: etag(after.Tag())},
	}, nil
}

// DeletePlanComment implements DELETE /v1/tasks/{task_id}/plan/comments/{comment_id}.
func (a *API) DeletePlanComment(ctx context.Context, r gen.DeletePlanCommentRequestObject) (gen.DeletePlanCommentResponseObject, error) {
	after, err := a.Plans.DeleteComment(ctx, plan.CommentRemoval{
		TaskID:          taskOf(ctx),
		ID:              r.CommentID,
		PlanID:          r.Params.PlanID,
		ExpectedVersion: r.Params.ExpectedVersion,
	})
	if err != nil {
		return nil, err
	}
	return gen.DeletePlanComment200JSONResponse{
		Body: snapshotBody(after), Headers: gen.DeletePlanComment200ResponseHeaders{ETag: etag(after.Tag())},
	}, nil
}

// ImportPlanComments implements POST /v1/tasks/{task_id}/plan/comments/import.
func (a *API) ImportPlanComments(ctx context.Context, r gen.ImportPlanCommentsRequestObject) (gen.ImportPlanCommentsResponseObject, error) {
	done, err := a.Plans.Import(ctx, plan.ImportRequest{
		TaskID: taskOf(ctx),
		PlanID: r.Body.PlanID,
		Drafts: each(r.Body.Drafts, importedDraft),
	})
	if err != nil {
		return nil, err
	}
	return gen.ImportPlanComments200JSONResponse{
		Results:  each(done.Results, draftResultBody),
		Snapshot: snapshotBody(done.Snapshot),
	}, nil
}

// importedDraft puts in the place of a missing member one that the domain refuses,
// so that it is judged with the others (PC-13).
func importedDraft(d gen.CommentDraft) plan.Draft {
	return plan.Draft{
		ID:           orZero(d.ID),
		Body:         orZero(d.Body),
		SelectedText: orZero(d.SelectedText),
		AnchorFrom:   anchor(d.AnchorFrom),
		AnchorTo:     anchor(d.AnchorTo),
	}
}

// anchor is a position, or one that no editor has.
func anchor(position *int64) int64 {
	if position == nil {
		return -1
	}
	return *position
}

func draftResultBody(r plan.DraftResult) gen.DraftResult {
	body := gen.DraftResult{ID: r.ID, Status: gen.DraftStatus(r.Verdict)}
	if r.Reason != "" {
		body.Reason = new(gen.DraftReason(r.Reason))
	}
	return body
}

func snapshotBody(s plan.Snapshot) gen.CommentsSnapshot {
	return gen.CommentsSnapshot{
		TaskID:   s.TaskID,
		PlanID:   s.PlanID,
		Revision: s.Revision,
		Comments: each(s.Comments, commentBody),
	}
}

func commentBody(c plan.Comment) gen.Comment {
	return gen.Comment{
		ID:           c.ID,
		PlanID:       c.PlanID,
		Body:         c.Body,
		SelectedText: c.SelectedText,
		AnchorFrom:   c.AnchorFrom,
		AnchorTo:     c.AnchorTo,
		Version:      c.Version,
		CreatedAt:    at(c.CreatedAt),
		UpdatedAt:    at(c.UpdatedAt),
	}
}

// commentsChangedMembers is plan_comments_changed {snapshot}, null where there is
// no plan.
func commentsChangedMembers(e *plan.CommentsChangedError) map[string]any {
	if e.Snapshot.PlanID == "" {
		return map[string]any{"snapshot": nil}
	}
	return map[string]any{"snapshot": snapshotBody(e.Snapshot)}
}

// limitMembers is comment_limit_exceeded {limit, maximum, actual} (PC-2).
func limitMembers(e *plan.LimitError) map[string]any {
	return map[string]any{"limit": e.Limit, "maximum": e.Maximum, "actual": e.Actual}
}
