package subagent

import (
	"context"
	"fmt"

	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Extend takes what the child said last into a run that has ended, and answers the run
// as it is then: the record of a transcript was told its end before all that the child
// said in it (HI-30). The runs behind it, in which nothing was said yet, then begin
// where it ends. Where the child has said something in a later run, and where the run
// goes on, or crashed, or is a legacy one, it stays as it is: what was said is another
// run's, or shows without this.
func (s *Executions) Extend(ctx context.Context, taskID, id string) (Execution, error) {
	var e Execution
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx ExecutionTx, _ task.Task) (*event.Change, error) {
		prior, err := tx.Execution(ctx, id)
		if err == nil && prior.TaskID != taskID {
			err = ErrExecutionNotFound
		}
		if e = prior; err != nil || e.StartMessageSeq == nil || e.EndMessageSeq == nil {
			return nil, err
		}
		child, err := tx.LockSession(ctx, taskID, e.ChildSessionID)
		if err != nil {
			return nil, err
		}
		behind, err := tx.LaterRuns(ctx, e.ChildSessionID, e.Run)
		if err != nil {
			return nil, err
		}
		moved := extend(e, behind, child.LastMessageSeq)
		for _, m := range moved {
			m.UpdatedAt = s.now()
			if err := tx.MoveExecution(ctx, m); err != nil {
				return nil, err
			}
		}
		if len(moved) == 0 {
			return nil, nil //nolint:nilnil // nothing changed
		}
		e = moved[0]
		return &event.Change{Sessions: []event.SessionChange{ended(e)}}, nil
	})
	if err != nil {
		return Execution{}, fmt.Errorf("extend execution %s: %w", id, err)
	}
	return e, nil
}

// extend is e with its end at last, and the runs behind it that move along; nothing
// when it has to stay.
func extend(e Execution, behind []Execution, last int64) []Execution {
	end := *e.EndMessageSeq
	if last <= end {
		return nil
	}
	e.EndMessageSeq = &last
	moved := []Execution{e}
	for _, b := range behind {
		silent := b.StartMessageSeq != nil && *b.StartMessageSeq == end && (b.EndMessageSeq == nil || *b.EndMessageSeq == end)
		if !silent {
			return nil
		}
		b.StartMessageSeq = &last
		if b.EndMessageSeq != nil {
			b.EndMessageSeq = &last
		}
		moved = append(moved, b)
	}
	return moved
}

// ExecutionMover is what extending a run takes of a transaction.
type ExecutionMover interface {
	// LaterRuns returns the runs of a child behind one, in their order.
	LaterRuns(ctx context.Context, childSessionID string, run int) ([]Execution, error)

	// MoveExecution writes the start, end and time of change of e.
	MoveExecution(ctx context.Context, e Execution) error
}
