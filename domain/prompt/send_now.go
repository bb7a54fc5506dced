package prompt

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// SendNow asks for pending entries of a queue to be sent as one, before everything
// else.
type SendNow struct {
	TaskID           string
	SessionID        string
	EntryIDs         []string // nil is every pending one
	ExpectedRevision int64    // of the queue that the caller saw
	Interrupt        bool     // also while a turn runs, which is then asked to stop
	Reserve          bool     // for the caller, a runner; otherwise the next reserve hands it out
}

// SendNow combines pending entries, direct ones included, into one delivery at the
// head of the queue (DL-8). With Reserve it is reserved at once, for the default
// lease: the token is then not empty. Otherwise it waits for the next reserve, which
// gets it even with auto_run off, because a person asked.
//
// Errors: [domain.ValidationError], [task.ErrArchived], [session.ErrNotFound],
// [session.UnavailableError] (terminal, busy), [ErrSendNowConflict],
// [QueueChangedError], [ErrEntryNotFound], [ErrEntryNotEditable], [ErrQueueEmpty],
// [TooLargeError].
func (s *Service) SendNow(ctx context.Context, r SendNow) (Delivery, Token, error) {
	wanted, err := r.selection()
	if err != nil {
		return Delivery{}, "", err
	}
	var token Token
	if r.Reserve {
		token = newToken()
	}
	var sent Delivery
	err = s.mutate(ctx, r.TaskID, func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error) {
		ses, q, err := s.lockQueue(ctx, tx, t, r.SessionID)
		if err != nil {
			return nil, err
		}
		if err := r.checkSession(ctx, tx, ses); err != nil {
			return nil, err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		sources, err := r.pick(wanted, q, now)
		if err != nil {
			return nil, err
		}
		if sent, err = combine(sources, ses, q.Entries[0].Position, s.now()); err != nil {
			return nil, err
		}
		if r.Reserve {
			sent.reserve(token, sent.CreatedAt, now.Add(domain.DefaultLease*time.Second))
		}
		if err := s.writeCombination(ctx, tx, q, sources, sent, now); err != nil {
			return nil, err
		}
		return s.sentNow(ctx, tx, ses, r.Interrupt)
	})
	if err != nil {
		return Delivery{}, "", fmt.Errorf("send now to session %s: %w", r.SessionID, err)
	}
	return sent, token, nil
}

// selection is the set of the entries that r names, in canonical form, nil for all.
func (r SendNow) selection() (map[string]bool, error) {
	var p domain.Problems
	ids := checkIDs(&p, "/body/entry_ids", r.EntryIDs)
	if r.EntryIDs == nil || p.Err() != nil {
		return nil, p.Err()
	}
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set, nil
}

// checkSession judges whether something can be sent to ses now.
func (r SendNow) checkSession(ctx context.Context, tx Tx, ses session.Session) error {
	if err := ses.RequireActive(); err != nil || r.Interrupt {
		return err
	}
	running, err := tx.RunningTurns(ctx, ses.ID)
	if err == nil && (running > 0 || ses.State == session.StateRunning) {
		return ses.Unavailable(session.ReasonBusy)
	}
	return err
}

// pick returns the entries of q that are wanted, in order of position. A reservation
// whose lease is over at now is as good as pending.
func (r SendNow) pick(wanted map[string]bool, q Queue, now time.Time) ([]*Delivery, error) {
	for _, d := range q.Entries {
		if d.leased(now) && (r.Reserve || wanted[d.ID]) {
			return nil, ErrSendNowConflict
		}
	}
	if r.ExpectedRevision != q.Revision {
		return nil, &QueueChangedError{q}
	}
	var picked []*Delivery
	found := 0
	for i := range q.Entries {
		d := &q.Entries[i]
		if wanted != nil && !wanted[d.ID] {
			continue
		}
		found++
		switch {
		case d.Kind != KindCombined && d.State != StateCombined && !d.leased(now):
			picked = append(picked, d)
		case wanted != nil:
			return nil, ErrEntryNotEditable
		}
	}
	switch {
	case found < len(wanted):
		return nil, ErrEntryNotFound
	case len(picked) == 0:
		return nil, ErrQueueEmpty
	}
	return picked, nil
}

// writeCombination writes made and its sources. A reservation that is over at now
// goes back to its place first: it may be a source, or stand in the way of made.
func (s *Service) writeCombination(ctx context.Context, tx Tx, q Queue, sources []*Delivery, made Delivery, now time.Time) error {
	for i := range q.Entries {
		if d := &q.Entries[i]; d.State == StateReserved && !d.leased(now) {
			if err := takeBack(ctx, tx, d, s.now()); err != nil {
				return err
			}
		}
	}
	for _, source := range sources {
		source.join(made)
		if err := tx.UpdateDelivery(ctx, *source, StatePending); err != nil {
			return err
		}
	}
	return tx.InsertDelivery(ctx, made)
}

// sentNow counts the change of the queue of ses, asks its turns to stop when that is
// wanted, and says what to tell.
func (s *Service) sentNow(ctx context.Context, tx Tx, ses session.Session, interrupt bool) (*event.Change, error) {
	change, err := s.queueChanged(ctx, tx, ses)
	if err != nil || !interrupt {
		return change, err
	}
	change.Sessions[0].Interrupt, err = tx.RequestInterrupt(ctx, ses.ID)
	return change, err
}
