package handlers

import (
	"context"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/task"
	"gatehouse/gen"
)

func taskBody(t task.Task) gen.Task {
	return gen.Task{
		ID: t.ID, WorkspaceID: t.WorkspaceID, Title: t.Title, Description: t.Description, Archived: t.Archived,
		PrimarySessionID: nullOr(t.PrimarySessionID), ChangeSeq: t.ChangeSeq, CreatedAt: at(t.CreatedAt), UpdatedAt: at(t.UpdatedAt),
	}
}

// CreateTask implements POST /v1/tasks.
func (a *API) CreateTask(ctx context.Context, r gen.CreateTaskRequestObject) (gen.CreateTaskResponseObject, error) {
	workspaceID, err := a.workspaceOf(ctx, r.Body.WorkspaceID)
	if err != nil {
		return nil, err
	}
	t, created, err := a.Tasks.Create(ctx, task.New{
		ID:          orZero(optionalID(r.Body.ID)),
		WorkspaceID: workspaceID,
		Title:       r.Body.Title,
		Description: orZero(r.Body.Description),
	})
	switch {
	case err != nil:
		return nil, err
	case !created:
		return gen.CreateTask200JSONResponse(taskBody(t)), nil
	}
	return gen.CreateTask201JSONResponse{
		Body:    taskBody(t),
		Headers: gen.CreateTask201ResponseHeaders{Location: "/v1/tasks/" + t.ID},
	}, nil
}

// ListTasks implements GET /v1/tasks.
func (a *API) ListTasks(ctx context.Context, r gen.ListTasksRequestObject) (gen.ListTasksResponseObject, error) {
	filter := task.Filter{Archived: r.Params.Archived}
	if r.Params.WorkspaceID != nil || callerOf(ctx).Scope != access.ScopeAdmin {
		workspaceID, err := a.workspaceOf(ctx, r.Params.WorkspaceID)
		if err != nil {
			return nil, err
		}
		filter.WorkspaceID = &workspaceID
	}
	page, err := a.Tasks.List(ctx, filter, pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListTasks200JSONResponse{Items: each(page.Items, taskBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// GetTask implements GET /v1/tasks/{task_id}.
func (a *API) GetTask(ctx context.Context, _ gen.GetTaskRequestObject) (gen.GetTaskResponseObject, error) {
	t, err := a.Tasks.Get(ctx, taskOf(ctx))
	if err != nil {
		return nil, err
	}
	return gen.GetTask200JSONResponse(taskBody(t)), nil
}

// UpdateTask implements PATCH /v1/tasks/{task_id}.
func (a *API) UpdateTask(ctx context.Context, r gen.UpdateTaskRequestObject) (gen.UpdateTaskResponseObject, error) {
	t, err := a.Tasks.Update(ctx, taskOf(ctx), task.Patch{
		Title: r.Body.Title, Description: r.Body.Description, Archived: r.Body.Archived,
	})
	if err != nil {
		return nil, err
	}
	return gen.UpdateTask200JSONResponse(taskBody(t)), nil
}

// SetPrimarySession implements PUT /v1/tasks/{task_id}/primary-session.
func (a *API) SetPrimarySession(ctx context.Context, r gen.SetPrimarySessionRequestObject) (gen.SetPrimarySessionResponseObject, error) {
	var sessionID *string
	if id, err := r.Body.SessionID.Get(); err == nil {
		canonical, _ := domain.ParseID(id)
		sessionID = &canonical
	}
	t, err := a.Tasks.SetPrimary(ctx, taskOf(ctx), sessionID)
	if err != nil {
		return nil, err
	}
	return gen.SetPrimarySession200JSONResponse(taskBody(t)), nil
}
