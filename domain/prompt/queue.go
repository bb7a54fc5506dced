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
	return ses, Queue{
		SessionID: ses.ID,
		Revision:  ses.QueueRevision,
		Seq:       ses.QueueSeq,
		Capacity:  s.capacity,
		AutoRun:   ses.AutoRun,
		Entries:   entries,
	}, err
}

// saveQueue counts the change that made q out of the queue of ses, which is what the
// caller is answered, and says what to tell.
func (s *Service) saveQueue(ctx context.Context, tx Tx, t task.Task, ses session.Session, q *Queue) (*event.Change, error) {
	q.Revision = ses.QueueRevision + 1
	q.Seq = t.ChangeSeq + 1
	return s.queueChanged(ctx, tx, ses)
}
