package subagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// End ends a run in a terminal status, at the child's last seq of this moment
// (HI-2), and answers it as it is then. One that has ended stays as it is. The
// history of the parent moves with it (EV-7).
func (s *Executions) End(ctx context.Context, taskID, id string, status ExecutionStatus) (Execution, error) {
	var e Execution
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx ExecutionTx, _ task.Task) (*event.Change, error) {
		prior, err := tx.Execution(ctx, id)
		if err == nil && prior.TaskID != taskID {
			err = ErrExecutionNotFound
		}
		if e = prior; err != nil || e.Status != ExecutionRunning {
			return nil, err
		}
		if e, err = endOne(ctx, tx, prior, status, s.now()); err != nil {
			return nil, err
		}
		return &event.Change{Sessions: []event.SessionChange{ended(e)}}, nil
	})
	if err != nil {
		return Execution{}, fmt.Errorf("end execution %s: %w", id, err)
	}
	return e, nil
}

// EndRunning ends every running execution of a session that turns terminal: the run
// of the session itself and those it delegated (HI-10). status is that of the
// session. The transaction holds the lock of the task; the changes returned, one per
// session in the order of their ids, are for the caller's stamp.
func EndRunning(ctx context.Context, tx ExecutionEnder, sessionID string, status ExecutionStatus, now time.Time) ([]event.SessionChange, error) {
	running, err := tx.RunningExecutions(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	var changes []event.SessionChange
	for _, e := range running {
		if _, err := endOne(ctx, tx, e, status, now); err != nil {
			return nil, err
		}
		if c := ended(e); !slices.Contains(changes, c) {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b event.SessionChange) int { return cmp.Compare(a.SessionID, b.SessionID) })
	return changes, nil
}

// endOne is how every run ends (HI-2). A child that is gone leaves the end open:
// there is nothing behind it.
func endOne(ctx context.Context, tx ExecutionEnder, e Execution, status ExecutionStatus, now time.Time) (Execution, error) {
	var last *int64
	switch child, err := tx.LockSession(ctx, e.TaskID, e.ChildSessionID); {
	case err == nil:
		last = &child.LastMessageSeq
	case !errors.Is(err, session.ErrNotFound):
		return e, err
	}
	e, changed := e.end(status, last, now)
	if !changed {
		return e, nil
	}
	return e, tx.EndExecution(ctx, e)
}

// ended is what the end of e changes: the list of the parent, and its history.
func ended(e Execution) event.SessionChange {
	return event.SessionChange{SessionID: e.ParentSessionID, Messages: true, Executions: true}
}
