package prompt

import (
	"context"
	"errors"
	"fmt"

	"gatehouse/domain/task"
)

// What one look for expired attachments, and one transaction that removes them, take
// on: of up to 10 MiB each, few keep a transaction short.
const (
	expiryTasks = 100
	expiryBatch = 10
)

// ExpireAttachments removes the attachments that nobody claimed in time, by the
// database's clock, and counts them (AD-10). Nothing depends on when it runs: what
// has expired is gone for everybody already. It is safe in several processes, and
// whoever ends ctx stops it between two transactions with what it did so far.
func (s *Service) ExpireAttachments(ctx context.Context) (n int, err error) {
	for {
		tasks, err := s.store.TasksWithExpired(ctx, expiryTasks)
		if err != nil {
			return n, fmt.Errorf("look for expired attachments: %w", err)
		}
		removed := 0
		for _, taskID := range tasks {
			m, err := s.expireIn(ctx, taskID)
			n, removed = n+m, removed+m
			if err != nil {
				return n, fmt.Errorf("expire attachments of task %s: %w", taskID, err)
			}
		}
		if removed == 0 {
			return n, nil
		}
	}
}

// expireIn removes one batch of a task's expired attachments, under the lock of the
// task: an admission that has found one staged gets it.
func (s *Service) expireIn(ctx context.Context, taskID string) (n int, err error) {
	err = s.store.InTx(ctx, taskID, func(ctx context.Context, tx Tx) error {
		n = 0
		if _, err := tx.LockTask(ctx, taskID); err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		n, err = tx.DeleteExpired(ctx, taskID, now, expiryBatch)
		return err
	})
	if errors.Is(err, task.ErrNotFound) {
		return 0, nil // deleted meanwhile, with all it had
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}
