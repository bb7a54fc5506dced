package session

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// RecordedTurn is a turn as the record of an agent tells it, with its own times.
type RecordedTurn struct {
	ID        string
	State     TurnState
	StartedAt time.Time
	EndedAt   *time.Time // nil exactly while it runs
}

type recordTx interface {
	// PriorTurns returns those of ids that exist, in any session of any task.
	PriorTurns(ctx context.Context, ids []string) ([]Turn, error)

	// InsertTurns reports how many of the ids were free.
	InsertTurns(ctx context.Context, turns []Turn) (inserted int, err error)
}

// RecordTurns stores turns of a session as they were (HI-30), and returns how many
// that changed. A turn that is recorded again changes nothing, unless the record has
// gone on: it ends one that runs, and a later end replaces an earlier one. An id of
// another session is [ErrTurnConflict], all or nothing. The session's state stays as
// it is. Archived tasks and ended sessions take turns too: a record is not lost for
// being late.
func (s *Service) RecordTurns(ctx context.Context, taskID, sessionID string, turns []RecordedTurn) (changed int, err error) {
	records, err := recordsOf(taskID, sessionID, turns)
	if err != nil || len(records) == 0 {
		return 0, err
	}
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		if _, err := tx.LockSession(ctx, taskID, sessionID); err != nil {
			return nil, err
		}
		prior, err := tx.PriorTurns(ctx, turnIDs(records))
		if err != nil {
			return nil, err
		}
		fresh, later, err := judgeTurns(records, prior)
		if changed = len(fresh) + len(later); err != nil || changed == 0 {
			return nil, err
		}
		return &event.Change{Task: true}, writeTurns(ctx, tx, fresh, later)
	})
	if err != nil {
		return 0, fmt.Errorf("record turns of session %s: %w", sessionID, err)
	}
	return changed, nil
}

// recordsOf judges turns on their own and makes rows of them, each id once.
func recordsOf(taskID, sessionID string, turns []RecordedTurn) ([]Turn, error) {
	var p domain.Problems
	var records []Turn
	seen := map[string]bool{}
	for i, t := range turns {
		field := fmt.Sprintf("/body/turns/%d", i)
		if (t.EndedAt == nil) != (t.State == TurnRunning) {
			p.Add(field+"/ended_at", domain.ProblemConflict, "must be there when the turn has ended, and only then")
		}
		if seen[t.ID] {
			p.Add(field+"/id", domain.ProblemDuplicate, "must differ from those of the turns before")
		}
		seen[t.ID] = true
		record := Turn{
			ID: t.ID, TaskID: taskID, SessionID: sessionID, State: t.State,
			CreateFingerprint: domain.Fingerprint(sessionID), StartedAt: t.StartedAt.UTC().Truncate(time.Microsecond),
		}
		if t.EndedAt != nil {
			record.EndedAt = new(t.EndedAt.UTC().Truncate(time.Microsecond))
		}
		records = append(records, record)
	}
	return records, p.Err()
}

func turnIDs(turns []Turn) []string {
	ids := make([]string, len(turns))
	for i, t := range turns {
		ids[i] = t.ID
	}
	return ids
}

// judgeTurns tells which records are new, and which prior turns they take further.
func judgeTurns(records, prior []Turn) (fresh, later []Turn, err error) {
	known := make(map[string]Turn, len(prior))
	for _, t := range prior {
		known[t.ID] = t
	}
	for _, r := range records {
		switch p, exists := known[r.ID]; {
		case !exists:
			fresh = append(fresh, r)
		case p.SessionID != r.SessionID:
			return nil, nil, ErrTurnConflict
		case r.EndedAt != nil && (p.EndedAt == nil || r.EndedAt.After(*p.EndedAt)):
			p.State, p.EndedAt = r.State, r.EndedAt
			later = append(later, p)
		}
	}
	return fresh, later, nil
}

func writeTurns(ctx context.Context, tx WriteTx, fresh, later []Turn) error {
	if len(fresh) > 0 {
		inserted, err := tx.InsertTurns(ctx, fresh)
		if err != nil {
			return err
		}
		if inserted != len(fresh) {
			return ErrTurnConflict // taken by another task, whose lock is not ours
		}
	}
	for _, t := range later {
		if err := tx.UpdateTurn(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
