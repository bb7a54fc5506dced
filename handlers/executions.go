package handlers

import (
	"context"

	"gatehouse/domain/subagent"
	"gatehouse/gen"
)

func executionBody(e subagent.Execution) gen.Execution {
	return gen.Execution{
		ID: e.ID, TaskID: e.TaskID, ParentSessionID: e.ParentSessionID, ParentToolCallID: nullOr(e.ParentToolCallID),
		ParentMessageID: nullOr(e.ParentMessageID), ChildSessionID: e.ChildSessionID, AgentType: nullOr(e.AgentType),
		Tool: e.Tool, Status: gen.ExecutionStatus(e.Status), StartMessageSeq: nullOr(e.StartMessageSeq),
		EndMessageSeq: nullOr(e.EndMessageSeq), StartedAt: at(e.StartedAt), EndedAt: nullAt(e.EndedAt), UpdatedAt: at(e.UpdatedAt),
	}
}

// StartExecution implements POST /v1/sessions/{session_id}/subagent-executions.
func (a *API) StartExecution(ctx context.Context, r gen.StartExecutionRequestObject) (gen.StartExecutionResponseObject, error) {
	e, created, err := a.Executions.Start(ctx, subagent.ExecutionStart{
		ID:               orZero(optionalID(r.Body.ID)),
		TaskID:           taskOf(ctx),
		ParentSessionID:  idOf(r.SessionID),
		ParentToolCallID: r.Body.ParentToolCallID,
		ParentMessageID:  optionalID(r.Body.ParentMessageID),
		ChildSessionID:   bodyID(r.Body.ChildSessionID),
		AgentType:        r.Body.AgentType,
		Tool:             r.Body.Tool,
	})
	switch {
	case err != nil:
		return nil, err
	case !created:
		return gen.StartExecution200JSONResponse(executionBody(e)), nil
	}
	return gen.StartExecution201JSONResponse{
		Body:    executionBody(e),
		Headers: gen.StartExecution201ResponseHeaders{Location: "/v1/subagent-executions/" + e.ID},
	}, nil
}

// ListExecutions implements GET /v1/sessions/{session_id}/subagent-executions.
func (a *API) ListExecutions(ctx context.Context, r gen.ListExecutionsRequestObject) (gen.ListExecutionsResponseObject, error) {
	page, err := a.Executions.List(ctx, idOf(r.SessionID), pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListExecutions200JSONResponse{Items: each(page.Items, executionBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// EndExecution implements PATCH /v1/subagent-executions/{subagent_execution_id}.
func (a *API) EndExecution(ctx context.Context, r gen.EndExecutionRequestObject) (gen.EndExecutionResponseObject, error) {
	e, err := a.Executions.End(ctx, taskOf(ctx), idOf(r.SubagentExecutionID), subagent.ExecutionStatus(r.Body.Status))
	if err != nil {
		return nil, err
	}
	return gen.EndExecution200JSONResponse(executionBody(e)), nil
}
