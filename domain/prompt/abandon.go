package prompt

import (
	"context"
	"time"
)

// Abandoner is what giving up the deliveries of a session takes of a transaction.
type Abandoner interface {
	// Owed returns the deliveries of a session that are unfinished or attempted, in
	// order of position.
	Owed(ctx context.Context, taskID, sessionID string) ([]Delivery, error)

	// UpdateDelivery writes d where the stored state is from; see [Tx].
	UpdateDelivery(ctx context.Context, d Delivery, from State) error
}

// Abandon gives up what a session that goes away is owed (DL-9): what was not
// attempted is discarded, and of what was nobody can tell any more what became of
// it. A reservation is worth nothing from then on; who attempted can still settle. The
// sources of a combination are owed like it, and given up like it. The receipts stay
// readable. The transaction holds the locks of task and
// session. It returns how many there were.
func Abandon(ctx context.Context, tx Abandoner, taskID, sessionID string, at time.Time) (int, error) {
	owed, err := tx.Owed(ctx, taskID, sessionID)
	if err != nil {
		return 0, err
	}
	for _, d := range owed {
		from := d.State
		if from == StateAttempted {
			d.become(StateOutcomeUnknown, at)
		} else {
			d.become(StateDiscarded, at)
			d.TokenHash = nil
		}
		if err := tx.UpdateDelivery(ctx, d, from); err != nil {
			return 0, err
		}
	}
	return len(owed), nil
}
