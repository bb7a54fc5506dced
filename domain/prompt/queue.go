package prompt

import (
	"context"
	"fmt"
	"strconv"

	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Queue is what a session is owed, in order of delivery: what is pending, what is
// reserved, and what waits inside a combination.
type Queue struct {
	SessionID string
	Revision  int64 // +1 per change (DL-11)
	Seq       int64 // the change of the task that last touched it (EV-1)
	Capacity  int64 // deliveries that the session may be owed (AD-5)
	AutoRun   bool  // whether they are handed out
	Entries   []Delivery
}

// QueueOf is the queue of s, which is owed entries in that order, without its capacity.
func QueueOf(s session.Session, entries []Delivery) Queue {
	return Queue{
		SessionID: s.ID,
		Revision:  s.QueueRevision,
		Seq:       s.QueueSeq,
		AutoRun:   s.AutoRun,
		Entries:   entries,
	}
}

// Tag stands for the queue as it is: every change of what it shows makes another
// one (API-6).
func (q Queue) Tag() string {
	return q.SessionID + ":" + strconv.FormatInt(q.Seq, 10) + ":" + strconv.FormatInt(q.Capacity, 10)
}

// Queue returns the queue of a session of a task, or [session.ErrNotFound].
func (s *Service) Queue(ctx context.Context, taskID, sessionID string) (Queue, error) {
	q, err := s.store.Queue(ctx, taskID, sessionID)
	if err != nil {
		return Queue{}, fmt.Errorf("read queue of session %s: %w", sessionID, err)
	}
	q.Capacity = s.capacity
	return q, nil
}

// lockQueue locks a session of an active task and reads its queue.
func (s *Service) lockQueue(ctx context.Context, tx Tx, t task.Task, sessionID string) (session.Session, Queue, error) {
	if err := t.RequireActive(); err != nil {
		return session.Session{}, Queue{}, err
	}
	ses, err := tx.LockSession(ctx, t.ID, sessionID)
	if err != nil {
		return session.Session{}, Queue{}, err
	}
	entries, err := tx.Unfinished(ctx, sessionID)
	q := QueueOf(ses, entries)
	q.Capacity = s.capacity
	return ses, q, err
}

// changeQueue answers what change makes of the queue of a session, under the locks of
// the task, which is active, and the session. change writes what it changes in q, and
// reports whether that is anything: it is counted then (DL-11), stamped and told.
func (s *Service) changeQueue(
	ctx context.Context, taskID, sessionID string,
	change func(ctx context.Context, tx Tx, ses *session.Session, q *Queue) (changed bool, err error),
) (after Queue, err error) {
	err = s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, t task.Task) (*event.Change, error) {
		ses, q, err := s.lockQueue(ctx, tx, t, sessionID)
		if err != nil {
			return nil, err
		}
		changed, err := change(ctx, tx, &ses, &q)
		if err != nil {
			return nil, err
		}
		if after = q; !changed {
			return nil, nil //nolint:nilnil // no change is nothing to tell
		}
		after.Revision, after.Seq = ses.QueueRevision+1, t.ChangeSeq+1
		return s.queueChanged(ctx, tx, ses)
	})
	if err != nil {
		return Queue{}, err
	}
	return after, nil
}

// queueChanged counts a change of the queue of ses and says what to tell (DL-11).
func (s *Service) queueChanged(ctx context.Context, tx Tx, ses session.Session) (*event.Change, error) {
	ses.QueueRevision++
	ses.UpdatedAt = s.now()
	if err := tx.SaveSession(ctx, ses); err != nil {
		return nil, err
	}
	return queueChange(ses.ID), nil
}

// queueChange is that the queue of a session shows something else, or a delivery of it.
func queueChange(sessionID string) *event.Change {
	return &event.Change{Sessions: []event.SessionChange{{SessionID: sessionID, Queue: true}}}
}
