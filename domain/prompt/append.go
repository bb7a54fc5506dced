package prompt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// Addition asks for a text at the end of a queue.
type Addition struct {
	TaskID    string
	SessionID string
	ClientID  *string // client_queue_id; nil for a text that is not remembered
	Content   string  // at most 1 MiB, not blank
	PlanMode  bool
	Model     *string // at most 500 bytes, not blank
}

// validate judges what a alone tells.
func (a Addition) validate() error {
	var p domain.Problems
	checkContent(&p, a.Content, true)
	checkModel(&p, a.Model)
	if err := p.Err(); err != nil {
		return err
	}
	return checkSize(a.Content)
}

// Append puts a text at the end of a queue and answers the queue as it is then. With
// a client id it is an admission like every other (AD-7), and replayed says that it
// was made before. Without one it is added to the last entry when that is of its
// kind, and else is an entry of its own (DL-6).
//
// Errors: those of [Service.AdmitQueued].
func (s *Service) Append(ctx context.Context, a Addition) (after Queue, replayed bool, err error) {
	if a.ClientID != nil {
		return s.appendAdmitted(ctx, a)
	}
	if err := a.validate(); err != nil {
		return Queue{}, false, err
	}
	after, err = s.changeQueue(ctx, a.TaskID, a.SessionID, func(ctx context.Context, tx Tx, ses *session.Session, q *Queue) (bool, error) {
		if err := ses.RequireActive(); err != nil {
			return false, err
		}
		return true, s.fold(ctx, tx, a, ses, q)
	})
	if err != nil {
		return Queue{}, false, fmt.Errorf("append to queue of session %s: %w", a.SessionID, err)
	}
	return after, false, nil
}

// appendAdmitted is Append with a client id. A replay still answers when the session
// is gone, whose queue is then empty.
func (s *Service) appendAdmitted(ctx context.Context, a Addition) (Queue, bool, error) {
	admitted, err := s.AdmitQueued(ctx, Request{
		TaskID:    a.TaskID,
		SessionID: a.SessionID,
		ClientID:  *a.ClientID,
		Content:   a.Content,
		PlanMode:  a.PlanMode,
		Model:     a.Model,
	})
	if err != nil {
		return Queue{}, false, err
	}
	q, err := s.Queue(ctx, a.TaskID, a.SessionID)
	if errors.Is(err, session.ErrNotFound) {
		return Queue{SessionID: a.SessionID, Capacity: s.capacity}, admitted.Replayed, nil
	}
	return q, admitted.Replayed, err
}

// fold writes a at the end of q: into the last entry, or behind it.
func (s *Service) fold(ctx context.Context, tx Tx, a Addition, ses *session.Session, q *Queue) error {
	if n := len(q.Entries); n > 0 && q.Entries[n-1].takes(a) {
		tail := &q.Entries[n-1]
		tail.rewrite(tail.Content+foldSeparator+a.Content, s.now())
		return tx.RewriteEntry(ctx, *tail)
	}
	if err := checkCapacity(int64(len(q.Entries)), s.capacity); err != nil {
		return err
	}
	ses.LastPosition++
	d := a.delivery(*ses, s.now())
	q.Entries = append(q.Entries, d)
	return tx.InsertDelivery(ctx, d)
}

// foldSeparator stands between texts that become one: an empty line.
const foldSeparator = "\n\n"

// takes reports whether a may become a part of d: nobody can ask for d by an id of
// his own, it is no other one again (DL-12), it carries nothing but text, it is sent in
// the same way, and it has room.
func (d Delivery) takes(a Addition) bool {
	return d.movable() && d.ClientID == nil && d.RequeuedFrom == nil && len(d.PlanCommentRefs) == 0 && len(d.Attachments) == 0 &&
		d.PlanMode == a.PlanMode && sameText(d.Model, a.Model) &&
		len(d.Content)+len(foldSeparator)+len(a.Content) <= domain.MaxPromptContent
}

// delivery is a as an entry of its own, at the last position of s.
func (a Addition) delivery(s session.Session, now time.Time) Delivery {
	d := newDelivery(s, KindQueued, s.LastPosition, now)
	d.Content, d.PlanMode, d.Model = a.Content, a.PlanMode, a.Model
	d.Metadata = serviceMetadata(d.PlanCommentRefs)
	return d
}
