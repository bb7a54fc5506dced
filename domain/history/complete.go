package history

import (
	"context"
	"fmt"

	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// Completed is what a batch added to a transcript.
type Completed struct {
	Messages    int // that are new
	Grown       int // that were there with less
	FileChanges int // of both
}

type completeTx interface {
	// MessageChanges returns the file changes of a message by ordinal, with texts.
	MessageChanges(ctx context.Context, sessionID string, seq int64) ([]FileChange, error)

	// CompleteMessage writes content, thinking, tool calls, metadata, sanitized,
	// request fingerprint and time of m, and stores changes, which are further ones.
	CompleteMessage(ctx context.Context, m session.Message, changes []FileChange) error
}

// Complete is [Service.Append] for a record that is told again while it grows
// (HI-30): a message that was appended with less is completed at its place. More
// content may follow what is stored, and more thinking, calls and file changes; its
// metadata is replaced, and the grown request is what a replay is told by from then
// on. One that was rolled back stays as it is. What is no extension of what is stored
// refuses the batch with [session.ErrMessageConflict].
func (s *Service) Complete(ctx context.Context, taskID, sessionID string, batch []NewMessage) (Completed, error) {
	drafts, err := s.drafts(sessionID, batch)
	if err != nil {
		return Completed{}, err
	}
	var done Completed
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		done = Completed{}
		locked, err := tx.LockSession(ctx, taskID, sessionID)
		if err != nil {
			return nil, err
		}
		prior, err := tx.PriorMessages(ctx, callersIDs(batch))
		if err != nil {
			return nil, err
		}
		grown, prior := outgrown(drafts, prior)
		results, fresh, err := judge(sessionID, drafts, prior, locked.LastMessageSeq)
		if err != nil {
			return nil, err
		}
		bound, err := s.growAll(ctx, tx, locked, grown, &done)
		if err != nil {
			return nil, err
		}
		if len(fresh) > 0 {
			a := placed(locked, drafts, results, fresh)
			done.Messages, done.FileChanges = len(fresh), done.FileChanges+len(a.changes)
			change, err := s.write(ctx, tx, locked, a)
			if err != nil {
				return nil, err
			}
			bound = bound || change.Sessions[0].Executions
		}
		if done.Messages+done.Grown == 0 {
			return nil, nil //nolint:nilnil // nothing changed
		}
		return &event.Change{Sessions: []event.SessionChange{{SessionID: sessionID, Messages: true, Executions: bound}}}, nil
	})
	if err != nil {
		return Completed{}, fmt.Errorf("complete session %s: %w", sessionID, err)
	}
	return done, nil
}

// outgrown returns the drafts whose ids other requests took, and prior as if these had
// been replays. Those of another session are for [judge] to refuse.
func outgrown(drafts []draft, prior []PriorMessage) (grown []draft, _ []PriorMessage) {
	at := make(map[string]int, len(prior))
	for i, p := range prior {
		at[p.ID] = i
	}
	for _, d := range drafts {
		i, taken := at[d.message.ID]
		if taken && prior[i].RequestFingerprint != d.message.RequestFingerprint {
			prior[i].RequestFingerprint = d.message.RequestFingerprint
			grown = append(grown, d)
		}
	}
	return grown, prior
}

// growAll completes stored messages, counts them in done and reports whether an
// execution was bound to a call that is new.
func (s *Service) growAll(ctx context.Context, tx WriteTx, of session.Session, grown []draft, done *Completed) (bound bool, err error) {
	for _, d := range grown {
		stored, err := tx.Message(ctx, d.message.ID)
		if err != nil {
			return false, err
		}
		if stored.DeletedAt != nil {
			continue
		}
		known, err := tx.MessageChanges(ctx, of.ID, stored.Seq)
		if err != nil {
			return false, err
		}
		a, err := d.extend(stored, known)
		if err != nil {
			return false, err
		}
		if err := a.rekey(ctx, tx, of.ID); err != nil {
			return false, err
		}
		if err := tx.CompleteMessage(ctx, a.messages[0], a.changes); err != nil {
			return false, err
		}
		more, err := subagent.Delegate(ctx, tx, of.ID, a.delegations, s.now())
		if err != nil {
			return false, err
		}
		bound = bound || more
		done.Grown, done.FileChanges = done.Grown+1, done.FileChanges+len(a.changes)
	}
	return bound, nil
}
