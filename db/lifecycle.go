package db

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain/lifecycle"
	"gatehouse/domain/session"
)

// Lifecycle is the store of the operations that cut across.
func (s *Store) Lifecycle() lifecycle.Store { return lifecycleStore{s} }

type lifecycleStore struct{ *Store }

// lifecycleTx is a transaction with what cuts across in it.
type lifecycleTx struct{ promptTx }

// InTx implements lifecycle.Store.
func (s lifecycleStore) InTx(ctx context.Context, taskID string, fn func(context.Context, lifecycle.Tx) error) error {
	return s.inTx(ctx, taskID, func(ctx context.Context, t *tx) error { return fn(ctx, lifecycleTx{promptTx{t}}) })
}

// EndTurns implements lifecycle.Tx.
func (t lifecycleTx) EndTurns(ctx context.Context, sessionID string, state session.TurnState, at time.Time) error {
	_, err := t.NewUpdate().Table("task_session_turns").Set("state = ?", state).Set("ended_at = ?", at).
		Where("session_id = ?", sessionID).Where("state = ?", session.TurnRunning).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end turns: %w", err)
	}
	return nil
}

// DeleteSession implements lifecycle.Tx. Turns and messages go by their foreign keys.
func (t lifecycleTx) DeleteSession(ctx context.Context, id string) error {
	if err := t.retireSession(ctx, id); err != nil {
		return err
	}
	if _, err := t.NewDelete().Table("task_sessions").Where("id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	return nil
}

// DeleteTask implements lifecycle.Tx. All below it goes by foreign keys, under the
// lock of the task row: no other order of locks can meet this one.
func (t lifecycleTx) DeleteTask(ctx context.Context, id string) error {
	if err := t.retireTask(ctx, id); err != nil {
		return err
	}
	if _, err := t.NewDelete().Table("tasks").Where("id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("delete task: %w", err)
	}
	return nil
}
