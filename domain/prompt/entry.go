package prompt

import (
	"context"
	"errors"
	"slices"
	"time"
)

// movable reports whether people may change d: a pending prompt of the queued
// transport, which no runner has and nothing was combined from (DL-5).
func (d Delivery) movable() bool { return d.State == StatePending && d.Kind == KindQueued }

// checkMovable says why d is not movable, nil when it is.
func (d Delivery) checkMovable() error {
	switch {
	case d.movable():
		return nil
	case d.State == StatePending || d.State == StateCombined:
		return ErrEntryNotEditable
	case d.State == StateCancelled || d.State == StateDiscarded || d.State == StateRequeued:
		return ErrEntryNotFound
	default:
		return ErrEntryReserved
	}
}

// entry returns the entry of q that a person asks to change, to be changed in its
// place. Where it is not one that people change, the error says why (DL-5).
func (q Queue) entry(ctx context.Context, tx Tx, taskID, id string) (*Delivery, error) {
	i := slices.IndexFunc(q.Entries, func(d Delivery) bool { return d.ID == id })
	if i >= 0 {
		return &q.Entries[i], q.Entries[i].checkMovable()
	}
	d, err := tx.Delivery(ctx, taskID, id)
	switch {
	case errors.Is(err, ErrDeliveryNotFound) || err == nil && d.SessionID != q.SessionID:
		return nil, ErrEntryNotFound
	case err != nil:
		return nil, err
	}
	return nil, d.checkMovable()
}

// rewrite gives d another text, and with it its next version.
func (d *Delivery) rewrite(content string, now time.Time) {
	d.Content = content
	d.Version++
	d.UpdatedAt = now
}
