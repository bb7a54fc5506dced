package handlers

import (
	"context"
	"strconv"

	"gatehouse/domain/plan"
	"gatehouse/gen"
)

// GetPlan implements GET /v1/tasks/{task_id}/plan.
func (a *API) GetPlan(ctx context.Context, r gen.GetPlanRequestObject) (gen.GetPlanResponseObject, error) {
	p, err := a.Plans.Get(ctx, taskOf(ctx))
	if err != nil {
		return nil, err
	}
	if unchanged(r.Params.IfNoneMatch, p.Tag()) {
		return gen.GetPlan304Response{Headers: gen.GetPlan304ResponseHeaders{ETag: etag(p.Tag())}}, nil
	}
	return gen.GetPlan200JSONResponse{Body: planBody(p), Headers: gen.GetPlan200ResponseHeaders{ETag: etag(p.Tag())}}, nil
}

// SavePlan implements PUT /v1/tasks/{task_id}/plan.
func (a *API) SavePlan(ctx context.Context, r gen.SavePlanRequestObject) (gen.SavePlanResponseObject, error) {
	condition, err := conditionOf(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	p, err := a.Plans.Save(ctx, plan.SaveRequest{
		TaskID:          taskOf(ctx),
		Content:         r.Body.Content,
		ExpectedVersion: r.Body.ExpectedVersion,
		IfMatch:         condition,
		OrphanedRefs:    each(r.Body.OrphanedCommentRefs, refOf),
	})
	if err != nil {
		return nil, err
	}
	return gen.SavePlan200JSONResponse{Body: planBody(p), Headers: gen.SavePlan200ResponseHeaders{ETag: etag(p.Tag())}}, nil
}

// DeletePlan implements DELETE /v1/tasks/{task_id}/plan.
func (a *API) DeletePlan(ctx context.Context, _ gen.DeletePlanRequestObject) (gen.DeletePlanResponseObject, error) {
	if err := a.Plans.Delete(ctx, taskOf(ctx)); err != nil {
		return nil, err
	}
	return gen.DeletePlan204Response{}, nil
}

// ListPlanRevisions implements GET /v1/tasks/{task_id}/plan/revisions.
func (a *API) ListPlanRevisions(ctx context.Context, r gen.ListPlanRevisionsRequestObject) (gen.ListPlanRevisionsResponseObject, error) {
	page, err := a.Plans.Revisions(ctx, taskOf(ctx), pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListPlanRevisions200JSONResponse{Items: each(page.Items, revisionBody), NextCursor: nullOr(page.NextCursor)}, nil
}

func revisionBody(r plan.RevisionInfo) gen.PlanRevisionItem {
	return gen.PlanRevisionItem{Version: r.Version, Bytes: r.Bytes, CreatedAt: at(r.CreatedAt)}
}

// GetPlanRevision implements GET /v1/tasks/{task_id}/plan/revisions/{version}.
func (a *API) GetPlanRevision(ctx context.Context, r gen.GetPlanRevisionRequestObject) (gen.GetPlanRevisionResponseObject, error) {
	version, err := versionIn(r.Version)
	if err != nil {
		return nil, err
	}
	found, err := a.Plans.Revision(ctx, taskOf(ctx), version)
	if err != nil {
		return nil, err
	}
	return gen.GetPlanRevision200JSONResponse{
		PlanID:    found.PlanID,
		Version:   found.Version,
		Content:   found.Content,
		CreatedAt: at(found.CreatedAt),
	}, nil
}

// RevertPlan implements POST /v1/tasks/{task_id}/plan/revisions/{version}/revert.
func (a *API) RevertPlan(ctx context.Context, r gen.RevertPlanRequestObject) (gen.RevertPlanResponseObject, error) {
	version, err := versionIn(r.Version)
	if err != nil {
		return nil, err
	}
	p, err := a.Plans.Revert(ctx, taskOf(ctx), version)
	if err != nil {
		return nil, err
	}
	return gen.RevertPlan200JSONResponse{Body: planBody(p), Headers: gen.RevertPlan200ResponseHeaders{ETag: etag(p.Tag())}}, nil
}

// versionIn reads the version of a revision from a path, where a malformed one is
// one that does not exist (API-2).
func versionIn(s string) (int64, error) {
	version, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(version, 10) != s {
		return 0, plan.ErrRevisionNotFound
	}
	return version, nil
}

func planBody(p plan.Plan) gen.Plan {
	return gen.Plan{
		ID:        p.ID,
		TaskID:    p.TaskID,
		Content:   p.Content,
		Version:   p.Version,
		CreatedAt: at(p.CreatedAt),
		UpdatedAt: at(p.UpdatedAt),
	}
}

// planChangedMembers is plan_changed {plan}, null where there is none (PC-9).
func planChangedMembers(e *plan.ChangedError) map[string]any {
	if e.Plan == nil {
		return map[string]any{"plan": nil}
	}
	return map[string]any{"plan": planBody(*e.Plan)}
}
