package lifecycle

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// DeleteSession deletes a session with its turns and messages. Its runs end
// cancelled, what it was owed is given up (DL-9), and its receipts and admission
// records stay readable (AD-7), like what it changed in files (HI-25). A primary
// session leaves its task without one.
func (s *Service) DeleteSession(ctx context.Context, taskID, id string) error {
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error) {
		if err := t.RequireActive(); err != nil {
			return nil, err
		}
		if _, err := tx.LockSession(ctx, taskID, id); err != nil {
			return nil, err
		}
		now := s.now()
		runs, err := subagent.EndRunning(ctx, tx, id, subagent.ExecutionCancelled, now)
		if err != nil {
			return nil, err
		}
		if _, err := prompt.Abandon(ctx, tx, taskID, id, now); err != nil {
			return nil, err
		}
		if t.PrimarySessionID != nil && *t.PrimarySessionID == id {
			if err := tx.SetPrimarySession(ctx, taskID, nil); err != nil {
				return nil, err
			}
		}
		runs = slices.DeleteFunc(runs, func(c event.SessionChange) bool { return c.SessionID == id })
		return &event.Change{Task: true, Sessions: runs}, tx.DeleteSession(ctx, id)
	})
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

// DeleteTask deletes a task with everything below it: plan, comments, sessions,
// receipts, admission records (PC-8, AD-7).
func (s *Service) DeleteTask(ctx context.Context, id string) error {
	var n event.Notice
	err := s.store.InTx(ctx, id, func(ctx context.Context, tx Tx) error {
		t, err := tx.LockTask(ctx, id)
		if err != nil {
			return err
		}
		n = event.Notice{TaskID: id, Seq: t.ChangeSeq + 1, Change: event.Change{Task: true}}
		return tx.DeleteTask(ctx, id)
	})
	if err != nil {
		return fmt.Errorf("delete task %s: %w", id, err)
	}
	s.announce.Announce(ctx, n)
	return nil
}
