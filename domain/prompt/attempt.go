package prompt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Attempt takes a reserved delivery over the delivery boundary. The caller calls it
// immediately before the first I/O to the agent, and does none unless it succeeds:
// from here on the system never sends the prompt again (DL-2). It writes the
// transcript row where there is none, starts a turn, and the session runs. The sources
// of a combination cross with it (DL-8). The answer names the message and the turn.
//
// Errors: [ErrDeliveryNotFound], [task.ErrArchived], [session.ErrReplaced],
// [ErrLeaseLost] (DL-1), [ErrAttempted], [session.UnavailableError] for a terminal
// session.
func (s *Service) Attempt(ctx context.Context, taskID, deliveryID string, token Token) (Delivery, error) {
	turnID := domain.NewID()
	var d Delivery
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error) {
		if err := t.RequireActive(); err != nil {
			return nil, err
		}
		var err error
		if d, err = tx.Delivery(ctx, taskID, deliveryID); err != nil {
			return nil, err
		}
		ses, err := lockIncarnation(ctx, tx, d)
		if err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		if err := d.checkReserved(token, now); err != nil {
			return nil, err
		}
		if ses.State.Terminal() {
			return nil, &session.UnavailableError{SessionID: ses.ID, State: ses.State, Reason: session.ReasonTerminal}
		}
		return begin(ctx, tx, &d, ses, turnID, s.now())
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("attempt delivery %s: %w", deliveryID, err)
	}
	return d, nil
}

// lockIncarnation locks the session that d is for. When it was reset or deleted
// since, that is [session.ErrReplaced].
func lockIncarnation(ctx context.Context, tx Tx, d Delivery) (session.Session, error) {
	ses, err := tx.LockSession(ctx, d.TaskID, d.SessionID)
	if errors.Is(err, session.ErrNotFound) || err == nil && ses.IncarnationID != d.IncarnationID {
		return session.Session{}, session.ErrReplaced
	}
	return ses, err
}

// begin writes the attempt of d: delivery with its sources, turn, and the transcript
// row of a prompt that has none, as a combination never has; and the session runs.
func begin(ctx context.Context, tx Tx, d *Delivery, ses session.Session, turnID string, at time.Time) (*event.Change, error) {
	d.become(StateAttempted, at)
	d.TurnID = &turnID
	turn := session.Turn{ID: turnID, TaskID: d.TaskID, SessionID: ses.ID, State: session.TurnRunning, StartedAt: at}
	switch inserted, err := tx.InsertTurn(ctx, turn); {
	case err != nil:
		return nil, err
	case !inserted:
		return nil, session.ErrTurnConflict
	}
	written := d.MessageID == nil
	if written {
		if err := tx.AppendMessage(ctx, *d.transcribe(&ses, at)); err != nil {
			return nil, err
		}
	}
	if err := updateWhole(ctx, tx, *d, StateReserved); err != nil {
		return nil, err
	}
	ses.State = session.StateRunning
	ses.QueueRevision++
	ses.UpdatedAt = at
	return &event.Change{
		Task:     true,
		Sessions: []event.SessionChange{{SessionID: ses.ID, Queue: true, Messages: written}},
	}, tx.SaveSession(ctx, ses)
}
