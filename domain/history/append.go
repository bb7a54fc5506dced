package history

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// AppendResult is what became of a batch.
type AppendResult struct {
	Results []Appended // in the order of the batch
	LastSeq int64      // of the session, after it
}

// Append stores 1 to 500 messages at the end of a transcript, all or nothing. A
// message that was appended before by the same request is a replay, whatever became
// of it since; one whose id belongs to another request refuses the whole batch with
// [session.ErrMessageConflict] (HI-9). A turn_id that is none of the session's is
// [session.ErrTurnNotFound] (API-23).
//
// Archived tasks and ended sessions take messages too: a record of an agent is not
// lost for being late.
func (s *Service) Append(ctx context.Context, taskID, sessionID string, batch []NewMessage) (AppendResult, error) {
	drafts, err := s.drafts(sessionID, batch)
	if err != nil {
		return AppendResult{}, err
	}
	var result AppendResult
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		locked, err := tx.LockSession(ctx, taskID, sessionID)
		if err != nil {
			return nil, err
		}
		prior, err := tx.PriorMessages(ctx, callersIDs(batch))
		if err != nil {
			return nil, err
		}
		results, fresh, err := judge(sessionID, drafts, prior, locked.LastMessageSeq)
		if err != nil {
			return nil, err
		}
		result = AppendResult{results, locked.LastMessageSeq + int64(len(fresh))}
		if len(fresh) == 0 {
			return nil, nil //nolint:nilnil // nothing changed
		}
		return s.write(ctx, tx, locked, placed(locked, drafts, results, fresh))
	})
	if err != nil {
		return AppendResult{}, fmt.Errorf("append to session %s: %w", sessionID, err)
	}
	return result, nil
}

// drafts judges a batch on its own and makes it ready.
func (s *Service) drafts(sessionID string, batch []NewMessage) ([]draft, error) {
	var p domain.Problems
	if len(batch) == 0 {
		p.Add("/body/messages", domain.ProblemRequired, "must hold at least one message")
	}
	checkMany(&p, "/body/messages", len(batch), domain.MaxBatch)
	metadata := make([][]byte, len(batch))
	for i, m := range batch {
		field := fmt.Sprintf("/body/messages/%d", i)
		m.check(&p, field)
		metadata[i] = domain.CheckMetadata(&p, field+"/metadata", m.Metadata)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	now := s.now()
	drafts := make([]draft, len(batch))
	for i, m := range batch {
		drafts[i] = m.draft(sessionID, metadata[i], s.tools, now)
	}
	return drafts, nil
}

func callersIDs(batch []NewMessage) []string {
	var ids []string
	for _, m := range batch {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// addition is what a batch adds to a transcript.
type addition struct {
	messages    []session.Message
	revised     []session.Message // that were there, by frames
	changes     []FileChange
	delegations []subagent.Delegation
	turns       []string // each once
}

// placed is the new drafts of a batch at their places. The drafts stay as they are:
// the transaction may run again.
func placed(s session.Session, drafts []draft, results []Appended, fresh []int) addition {
	var a addition
	for _, i := range fresh {
		d, m := drafts[i], drafts[i].message
		m.TaskID, m.Seq = s.TaskID, results[i].Seq
		a.messages = append(a.messages, m)
		for _, c := range d.changes {
			c.TaskID, c.SessionID, c.MessageID, c.MessageSeq = s.TaskID, s.ID, m.ID, m.Seq
			a.changes = append(a.changes, c)
		}
		for _, call := range d.delegations {
			a.delegations = append(a.delegations, subagent.Delegation{
				SessionID: s.ID, MessageID: m.ID, MessageSeq: m.Seq, ToolCallID: call.toolCallID, Ordinal: call.ordinal,
			})
		}
		if m.TurnID != nil && !slices.Contains(a.turns, *m.TurnID) {
			a.turns = append(a.turns, *m.TurnID)
		}
	}
	return a
}

// write stores what a batch adds, and tells what it changed.
func (s *Service) write(ctx context.Context, tx WriteTx, of session.Session, a addition) (*event.Change, error) {
	if len(a.turns) > 0 {
		known, err := tx.CountTurns(ctx, of.ID, a.turns)
		if err != nil {
			return nil, err
		}
		if known != len(a.turns) {
			return nil, session.ErrTurnNotFound
		}
	}
	if err := a.rekey(ctx, tx, of.ID); err != nil {
		return nil, err
	}
	if len(a.messages) > 0 {
		if err := tx.AppendMessages(ctx, of.ID, a.messages, a.changes); err != nil {
			return nil, err
		}
	}
	if len(a.revised) > 0 {
		if err := tx.UpdateMessages(ctx, a.revised); err != nil {
			return nil, err
		}
	}
	bound, err := subagent.Delegate(ctx, tx, of.ID, a.delegations, s.now())
	if err != nil {
		return nil, err
	}
	return &event.Change{Sessions: []event.SessionChange{{SessionID: of.ID, Messages: true, Executions: bound}}}, nil
}

// rekey makes the paths of the changes relative to the workspace of the task (HI-8).
func (a addition) rekey(ctx context.Context, tx appendTx, sessionID string) error {
	if len(a.changes) == 0 {
		return nil
	}
	workspace, err := tx.RootWorkspace(ctx, sessionID)
	if err != nil {
		return err
	}
	for i := range a.changes {
		a.changes[i].rekey(workspace)
	}
	return nil
}
