package handlers

import (
	"context"
	"encoding/json"

	"github.com/oapi-codegen/nullable"

	"gatehouse/domain/subagent"
	"gatehouse/gen"
	"gatehouse/gen/wire"
)

func contextBody(c subagent.Context) gen.SubagentContext {
	return gen.SubagentContext{
		ID: c.ID, TaskSessionID: c.TaskSessionID, TaskID: c.TaskID, TurnID: nullOr(c.TurnID),
		AgentExecutionID: c.AgentExecutionID, ToolCallID: c.ToolCallID, ParentToolCallID: nullOr(c.ParentToolCallID),
		SubagentType: nullOr(c.SubagentType), Description: nullOr(c.Description), AgentID: nullOr(c.AgentID),
		ChildSessionID: nullOr(c.ChildSessionID), Model: nullOr(c.Model),
		AgentStatus: nullOr(c.AgentStatus), ToolStatus: nullOr(c.ToolStatus), IsAsync: c.IsAsync,
		TotalTokens: nullOr(c.TotalTokens), ToolUseCount: nullOr(c.ToolUseCount), DurationMs: nullOr(c.DurationMS),
		Source: gen.SubagentSource(c.Source), ObservedAt: at(c.ObservedAt), SettledAt: nullAt(c.SettledAt), UpdatedAt: at(c.UpdatedAt),
	}
}

func sumBody(s subagent.Sum) gen.MetricSum {
	body := gen.MetricSum{Reported: s.Reported, Sum: nullable.NewNullNullable[json.Number]()}
	if s.Total != nil {
		body.Sum.Set(json.Number(s.Total.String()))
	}
	return body
}

func contextHealthBody(h subagent.Health) gen.SubagentContextHealth {
	body := gen.SubagentContextHealth{
		CaptureSince: nullAt(h.CaptureSince), BackfillThrough: nullable.NewNullNullable[string](), ExecutionSince: nullAt(h.ExecutionSince),
		State: gen.ActivationState(h.State()), Shortfall: nullOr[int64](nil), Excess: nullOr[int64](nil),
		Collisions: nullOr[int64](nil), LastObservedAt: nullAt(nil),
	}
	switch {
	case h.NothingBackfilled:
		body.BackfillThrough.Set(subagent.NothingToBackfill)
	case h.BackfillThrough != nil:
		body.BackfillThrough.Set(h.BackfillThrough.UTC().Format(wire.Layout))
	}
	if f := h.Found; f != nil {
		body.Shortfall, body.Excess, body.Collisions = nullOr(&f.Shortfall), nullOr(&f.Excess), nullOr(&f.Collisions)
		body.LastObservedAt = nullAt(f.LastObservedAt)
	}
	return body
}

func contextFilter(sessionID string, turnID *string) subagent.ContextFilter {
	return subagent.ContextFilter{SessionID: idOf(sessionID), TurnID: optionalID(turnID)}
}

// ListSubagentContexts implements GET /v1/sessions/{session_id}/subagents.
func (a *API) ListSubagentContexts(ctx context.Context, r gen.ListSubagentContextsRequestObject) (gen.ListSubagentContextsResponseObject, error) {
	page, err := a.Contexts.List(ctx, contextFilter(r.SessionID, r.Params.TurnID), pageRequest(r.Params.Limit, r.Params.Cursor))
	if err != nil {
		return nil, err
	}
	return gen.ListSubagentContexts200JSONResponse{Items: each(page.Items, contextBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// SummarizeSubagentContexts implements GET /v1/sessions/{session_id}/subagents/summary.
func (a *API) SummarizeSubagentContexts(ctx context.Context, r gen.SummarizeSubagentContextsRequestObject) (gen.SummarizeSubagentContextsResponseObject, error) {
	s, err := a.Contexts.Summary(ctx, contextFilter(r.SessionID, r.Params.TurnID))
	if err != nil {
		return nil, err
	}
	return gen.SummarizeSubagentContexts200JSONResponse{
		Invocations: s.Invocations, Settled: s.Settled, InFlight: s.InFlight(),
		TotalTokens: sumBody(s.TotalTokens), ToolUseCount: sumBody(s.ToolUses), DurationMs: sumBody(s.DurationMS),
	}, nil
}

// GetSubagentContextHealth implements GET /v1/admin/subagent-contexts/health.
func (a *API) GetSubagentContextHealth(ctx context.Context, _ gen.GetSubagentContextHealthRequestObject) (gen.GetSubagentContextHealthResponseObject, error) {
	h, err := a.Contexts.Health(ctx)
	if err != nil {
		return nil, err
	}
	return gen.GetSubagentContextHealth200JSONResponse(contextHealthBody(h)), nil
}
