package prompt

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/task"
)

// Resolution is what a person says of a delivery of which nobody can tell what became.
type Resolution string

// The resolutions.
const (
	ResolutionDelivered Resolution = "delivered" // the agent has the prompt
	ResolutionRequeue   Resolution = "requeue"   // send it again, as another one
)

// Resolutions lists every resolution.
var Resolutions = []Resolution{ResolutionDelivered, ResolutionRequeue}

// Resolve settles a delivery whose outcome is unknown because a person says so
// (DL-12): it was delivered, which acknowledges it as succeeded, or it is queued
// again, which makes a new pending entry with the same text, linked both ways. The
// system never does the latter by itself (DL-2). A source stands for its whole
// combination. Saying the same again changes nothing. It answers the delivery that was
// named, as it is then.
//
// Errors: [domain.ValidationError], [ErrDeliveryNotFound], [ErrNotAttempted]; to queue
// it again also [task.ErrArchived], [session.ErrReplaced], [session.UnavailableError]
// for a terminal session, [QueueFullError].
func (s *Service) Resolve(ctx context.Context, taskID, deliveryID string, r Resolution) (Delivery, error) {
	if !slices.Contains(Resolutions, r) {
		return Delivery{}, domain.Invalid("/body/resolution", domain.ProblemEnum, "must be a resolution")
	}
	var named Delivery
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx Tx, t task.Task) (change *event.Change, err error) {
		if named, err = tx.Delivery(ctx, taskID, deliveryID); err != nil {
			return nil, err
		}
		d := named
		if named.CombinedInto != nil {
			if d, err = tx.Delivery(ctx, taskID, *named.CombinedInto); err != nil {
				return nil, err
			}
		}
		switch {
		case d.resolved(r):
			return nil, nil
		case d.State != StateOutcomeUnknown:
			return nil, ErrNotAttempted.With("Only a delivery whose outcome is unknown can be resolved.")
		case r == ResolutionRequeue:
			change, err = s.requeue(ctx, tx, t, &d)
		default:
			d.deliver(s.now())
			change = &event.Change{Sessions: []event.SessionChange{{SessionID: d.SessionID, Queue: true}}}
		}
		if err != nil {
			return nil, err
		}
		if err := updateWhole(ctx, tx, d, StateOutcomeUnknown); err != nil {
			return nil, err
		}
		named, err = tx.Delivery(ctx, taskID, deliveryID)
		return change, err
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("resolve delivery %s: %w", deliveryID, err)
	}
	return named, nil
}

// resolved reports whether r is what became of d after its outcome was unknown.
func (d Delivery) resolved(r Resolution) bool {
	if r == ResolutionRequeue {
		return d.State == StateRequeued
	}
	return d.State == StateAcknowledged && d.OutcomeUnknownAt != nil && d.Outcome != nil && *d.Outcome == OutcomeSucceeded
}

// deliver notes that the agent has d.
func (d *Delivery) deliver(at time.Time) {
	d.become(StateAcknowledged, at)
	d.Outcome = new(OutcomeSucceeded)
}

// requeue makes a new entry of d at the end of the queue, and links the two.
func (s *Service) requeue(ctx context.Context, tx Tx, t task.Task, d *Delivery) (*event.Change, error) {
	if err := t.RequireActive(); err != nil {
		return nil, err
	}
	ses, err := lockIncarnation(ctx, tx, *d)
	if err != nil {
		return nil, err
	}
	if err := checkActive(ses); err != nil {
		return nil, err
	}
	owed, err := tx.Unfinished(ctx, ses.ID)
	if err != nil {
		return nil, err
	}
	if err := checkCapacity(int64(len(owed)), s.capacity); err != nil {
		return nil, err
	}
	ses.LastPosition++
	again := d.again(ses.LastPosition, s.now())
	d.become(StateRequeued, again.CreatedAt)
	d.RequeuedAs = &again.ID
	if err := tx.InsertDelivery(ctx, again); err != nil {
		return nil, err
	}
	return s.queueChanged(ctx, tx, ses)
}

// again is a new queued delivery with what d sends.
func (d Delivery) again(position int64, now time.Time) Delivery {
	return Delivery{
		ID:              domain.NewID(),
		TaskID:          d.TaskID,
		SessionID:       d.SessionID,
		IncarnationID:   d.IncarnationID,
		Kind:            KindQueued,
		State:           StatePending,
		Position:        position,
		Content:         d.Content,
		PlanMode:        d.PlanMode,
		Model:           d.Model,
		Attachments:     d.Attachments,
		PlanCommentRefs: d.PlanCommentRefs,
		Metadata:        d.Metadata,
		RequeuedFrom:    &d.ID,
		Version:         1,
		PendingAt:       now,
		CreatedAt:       now,
		UpdatedAt:       now,
	}
}
