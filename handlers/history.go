package handlers

import (
	"context"

	"gatehouse/domain/history"
	"gatehouse/gen"
)

func historyBody(p history.Page) gen.History {
	return gen.History{
		SessionID: p.SessionID, Messages: each(p.Messages, historyMessageBody), HasMore: p.HasMore,
		NextBefore: nullOr(p.NextBefore), LastSeq: p.LastSeq,
	}
}

func historyMessageBody(m history.PageMessage) gen.HistoryMessage {
	return gen.HistoryMessage{
		ID: m.ID, SessionID: m.SessionID, Seq: m.Seq, Role: gen.MessageRole(m.Role), Type: gen.MessageType(m.Type),
		Content: m.Content, Thinking: nullOr(m.Thinking), ToolCalls: each(m.Calls, toolCallBody), ToolCallID: nullOr(m.ToolCallID),
		TurnID: nullOr(m.TurnID), Metadata: m.Metadata, Sanitized: m.Sanitized,
		CreatedAt: at(m.CreatedAt), UpdatedAt: at(m.UpdatedAt), FileChanges: each(m.FileChanges, fileChangeBody),
	}
}

func fileChangeBody(c history.SourcedChange) gen.FileChange {
	return gen.FileChange{
		ID: c.ID, MessageID: c.MessageID, Ordinal: int64(c.Ordinal), Path: c.Path, PathKey: c.PathKey, OldPath: nullOr(c.OldPath),
		ChangeType: gen.ChangeType(c.ChangeType), DiffMode: gen.DiffMode(c.DiffMode),
		BeforeContent: nullOr(c.BeforeContent), AfterContent: nullOr(c.AfterContent), Patch: nullOr(c.Patch),
		PatchTruncated: c.PatchTruncated, DiffUnavailableReason: nullOr(c.DiffUnavailableReason), DiffOmitted: c.DiffOmitted,
		LinesAdded: nullOr(c.LinesAdded), LinesDeleted: nullOr(c.LinesDeleted), ToolCallID: nullOr(c.ToolCallID),
		SourceSessionID: c.SourceSessionID, SourceType: gen.SourceType(c.SourceType),
		SourceAgentType: nullOr(c.SourceAgentType), SourceExecutionID: nullOr(c.SourceExecutionID), CreatedAt: at(c.CreatedAt),
	}
}

// mergedBody has patch_truncated with a patch only.
func mergedBody(m history.MergedChange) gen.MergedFileChange {
	body := gen.MergedFileChange{
		PathKey: m.PathKey, Path: m.Path, OldPath: m.OldPath, ChangeType: gen.ChangeType(m.ChangeType), Deleted: m.Deleted,
		DiffMode: gen.DiffMode(m.DiffMode), BeforeContent: m.BeforeContent, AfterContent: m.AfterContent, Patch: m.Patch,
		PartiallyUnsupported: m.PartiallyUnsupported, DiffUnavailableReason: m.DiffUnavailableReason, DiffOmitted: m.DiffOmitted,
		LinesAdded: nullOr(m.LinesAdded), LinesDeleted: nullOr(m.LinesDeleted), Sources: each(m.Sources, sourceBody),
	}
	if m.DiffMode == history.Patch {
		body.PatchTruncated = &m.PatchTruncated
	}
	return body
}

func sourceBody(s history.Source) gen.MergedSource {
	return gen.MergedSource{Type: gen.SourceType(s.Type), SessionID: s.SessionID}
}

func roundBody(r history.RoundItem) gen.Round {
	return gen.Round{
		FirstSeq: r.FirstSeq, LastSeq: r.LastSeq, UserMessage: nullOrBody(r.UserMessage, messageBody),
		Messages: int64(r.Messages), Subagents: int64(r.Subagents), State: gen.RoundState(r.State),
		LinesAdded: nullOr(r.LinesAdded), LinesDeleted: nullOr(r.LinesDeleted), FileChanges: each(r.FileChanges, mergedBody),
	}
}

// diffsMode is the parameter of a reading, which the contract has judged.
func diffsMode(d *gen.DiffsMode) history.DiffsMode { return history.DiffsMode(orZero(d)) }

// ListMessages implements GET /v1/sessions/{session_id}/messages.
func (a *API) ListMessages(ctx context.Context, r gen.ListMessagesRequestObject) (gen.ListMessagesResponseObject, error) {
	page, err := a.History.Messages(ctx, idOf(r.SessionID), pageQuery(r.Params))
	if err != nil {
		return nil, err
	}
	return gen.ListMessages200JSONResponse(historyBody(page)), nil
}

// ListMessagesAsAdmin implements GET /v1/admin/sessions/{session_id}/messages: the
// same page, for every workspace (HI-26).
func (a *API) ListMessagesAsAdmin(ctx context.Context, r gen.ListMessagesAsAdminRequestObject) (gen.ListMessagesAsAdminResponseObject, error) {
	page, err := a.History.Messages(ctx, idOf(r.SessionID), pageQuery(gen.ListMessagesParams(r.Params)))
	if err != nil {
		return nil, err
	}
	return gen.ListMessagesAsAdmin200JSONResponse(historyBody(page)), nil
}

func pageQuery(p gen.ListMessagesParams) history.PageQuery {
	return history.PageQuery{Rounds: p.Rounds, Limit: p.Limit, Before: p.Before, After: p.After, Diffs: diffsMode(p.Diffs)}
}

// ListRounds implements GET /v1/sessions/{session_id}/rounds.
func (a *API) ListRounds(ctx context.Context, r gen.ListRoundsRequestObject) (gen.ListRoundsResponseObject, error) {
	page, err := a.History.Rounds(ctx, idOf(r.SessionID), history.RoundQuery{
		Limit: orZero(r.Params.Limit), Before: r.Params.Before, Diffs: diffsMode(r.Params.Diffs),
	})
	if err != nil {
		return nil, err
	}
	return gen.ListRounds200JSONResponse{Items: each(page.Items, roundBody), HasMore: page.HasMore, NextBefore: nullOr(page.NextBefore)}, nil
}

// ListFileChanges implements GET /v1/sessions/{session_id}/file-changes.
func (a *API) ListFileChanges(ctx context.Context, r gen.ListFileChangesRequestObject) (gen.ListFileChangesResponseObject, error) {
	page, err := a.History.FileChanges(ctx, idOf(r.SessionID), pageRequest(r.Params.Limit, r.Params.Cursor), diffsMode(r.Params.Diffs))
	if err != nil {
		return nil, err
	}
	return gen.ListFileChanges200JSONResponse{Items: each(page.Items, mergedBody), NextCursor: nullOr(page.NextCursor)}, nil
}

// GetFileChange implements GET /v1/file-changes/{change_id}.
func (a *API) GetFileChange(ctx context.Context, r gen.GetFileChangeRequestObject) (gen.GetFileChangeResponseObject, error) {
	c, err := a.History.FileChange(ctx, idOf(r.ChangeID))
	if err != nil {
		return nil, err
	}
	return gen.GetFileChange200JSONResponse(fileChangeBody(c)), nil
}
