package history

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// RollbackResult is what a rollback did.
type RollbackResult struct {
	Deleted int   // messages that went
	LastSeq int64 // of the session, deleted messages included: as it was
}

// Rollback deletes the messages of a session from a seq on, logically: their numbers
// are never used again, and the file changes they had saved stay (HI-4). Nothing to
// delete is no failure.
func (s *Service) Rollback(ctx context.Context, taskID, sessionID string, fromSeq int64) (RollbackResult, error) {
	if fromSeq < 1 {
		return RollbackResult{}, domain.Invalid("/body/from_seq", domain.ProblemRange, "must be at least 1")
	}
	var result RollbackResult
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		locked, err := tx.LockSession(ctx, taskID, sessionID)
		if err != nil {
			return nil, err
		}
		deleted, err := tx.DeleteMessages(ctx, sessionID, fromSeq, s.now())
		result = RollbackResult{deleted, locked.LastMessageSeq}
		if err != nil || deleted == 0 {
			return nil, err
		}
		return &event.Change{Sessions: []event.SessionChange{{SessionID: sessionID, Messages: true}}}, nil
	})
	if err != nil {
		return RollbackResult{}, fmt.Errorf("roll back session %s: %w", sessionID, err)
	}
	return result, nil
}
