package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

type deliveryRow struct {
	bun.BaseModel `bun:"table:deliveries,alias:d"`
	prompt.Delivery
}

func (r deliveryRow) delivery() prompt.Delivery { return r.Delivery }

// unfinishedSQL selects the deliveries d that are owed, see [prompt.State.Unfinished].
// It is spelled as the partial indexes spell it, or SQLite would not use them.
const unfinishedSQL = "d.state IN ('pending', 'reserved', 'combined')"

// promptTx is a transaction with what the steps of a delivery do in it.
type promptTx struct{ *tx }

// InTx implements prompt.Store.
func (s promptStore) InTx(ctx context.Context, taskID string, fn func(context.Context, prompt.Tx) error) error {
	return s.inTx(ctx, taskID, func(ctx context.Context, t *tx) error { return fn(ctx, promptTx{t}) })
}

// Delivery implements prompt.Store.
func (s promptStore) Delivery(ctx context.Context, id string) (d prompt.Delivery, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		row, err := one[deliveryRow](ctx, q, prompt.ErrDeliveryNotFound, "id = ?", id)
		d = row.Delivery
		return err
	})
	return d, err
}

// Deliveries implements prompt.Store.
func (s promptStore) Deliveries(ctx context.Context, taskID string, state *prompt.State, after *domain.Position, limit int) (found []prompt.Delivery, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[deliveryRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			q = q.Where("task_id = ?", taskID)
			if state != nil {
				q = q.Where("state = ?", *state)
			}
			return listBehind(q, "created_at", after, limit)
		})
		found = each(rows, deliveryRow.delivery)
		return err
	})
	return found, err
}

// Now implements prompt.Tx.
func (t promptTx) Now(ctx context.Context) (time.Time, error) { return t.now(ctx) }

// Delivery implements prompt.Tx.
func (t promptTx) Delivery(ctx context.Context, taskID, id string) (prompt.Delivery, error) {
	row, err := one[deliveryRow](ctx, t.querier, prompt.ErrDeliveryNotFound, "id = ? AND task_id = ?", id, taskID)
	return row.Delivery, err
}

// Next implements prompt.Tx. Both look-ups are one entry of a partial index, however
// much is owed to the session or to others (QU-7). The second one is asked for all
// that is owed too, because that is what its index holds.
func (t promptTx) Next(ctx context.Context, sessionID string) (reserved, pending *prompt.Delivery, err error) {
	reserved, err = t.first(ctx, "session_id = ? AND state = 'reserved'", sessionID)
	if err != nil {
		return nil, nil, err
	}
	pending, err = t.first(ctx, "session_id = ? AND "+unfinishedSQL+" AND state = 'pending'", sessionID)
	return reserved, pending, err
}

// errNoRow says that there is no such row, where that is no failure.
var errNoRow = errors.New("no such row")

// first returns the delivery with the lowest position among those that where selects.
func (t promptTx) first(ctx context.Context, where string, args ...any) (*prompt.Delivery, error) {
	var row deliveryRow
	err := t.NewSelect().Model(&row).Where(where, args...).Order("position").Limit(1).Scan(ctx)
	if err = orMissing(err, errNoRow, "look up the next delivery"); errors.Is(err, errNoRow) {
		return nil, nil //nolint:nilnil // nothing owed is no failure
	}
	return &row.Delivery, err
}

// UpdateDelivery implements prompt.Tx.
func (t promptTx) UpdateDelivery(ctx context.Context, d prompt.Delivery, from prompt.State) error {
	n, err := affected(t.NewUpdate().Model(&deliveryRow{Delivery: d}).
		Column("state", "message_id", "turn_id", "combined_into", "requeued_as", "token_hash", "lease_expires_at", "outcome",
			"detail", "pending_at", "reserved_at", "attempted_at", "acknowledged_at", "outcome_unknown_at", "combined_at",
			"requeued_at", "cancelled_at", "discarded_at", "updated_at").
		WherePK().Where("state = ?", from).Exec(ctx))
	if err == nil && n != 1 {
		err = errAffected
	}
	if err != nil {
		return fmt.Errorf("update delivery: %w", err)
	}
	return nil
}

// SaveSession implements prompt.Tx.
func (t promptTx) SaveSession(ctx context.Context, s session.Session) error {
	return update(ctx, t.querier, &sessionRow{Session: s},
		"state", "last_message_seq", "last_position", "queue_revision", "updated_at")
}

// AppendMessage implements prompt.Tx.
func (t promptTx) AppendMessage(ctx context.Context, m session.Message) (bool, error) {
	return insert(ctx, t.querier, &messageRow{Message: m})
}

// Transcribed implements prompt.Transcript.
func (t promptTx) Transcribed(ctx context.Context, messageID string) (bool, error) {
	n, err := t.NewSelect().Table("task_session_messages").Where("id = ?", messageID).Where("deleted_at IS NULL").Count(ctx)
	if err != nil {
		return false, fmt.Errorf("look up message: %w", err)
	}
	return n > 0, nil
}

// EndTurn implements prompt.Tx.
func (t promptTx) EndTurn(ctx context.Context, id string, state session.TurnState, at time.Time) (bool, error) {
	n, err := affected(t.NewUpdate().Table("task_session_turns").Set("state = ?", state).Set("ended_at = ?", at).
		Where("id = ?", id).Where("state = ?", session.TurnRunning).Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("end turn: %w", err)
	}
	return n > 0, nil
}

// RequestInterrupt implements prompt.Turns.
func (t promptTx) RequestInterrupt(ctx context.Context, sessionID string) (bool, error) {
	n, err := affected(t.NewUpdate().Table("task_session_turns").Set("interrupt_requested = ?", true).
		Where("session_id = ?", sessionID).Where("state = ?", session.TurnRunning).
		Where("interrupt_requested = ?", false).Exec(ctx))
	if err != nil {
		return false, fmt.Errorf("request interrupt: %w", err)
	}
	return n > 0, nil
}

// Sources implements prompt.Sources.
func (t promptTx) Sources(ctx context.Context, combinationID string) ([]prompt.Delivery, error) {
	rows, err := all[deliveryRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("combined_into = ?", combinationID).Order("position")
	})
	return each(rows, deliveryRow.delivery), err
}

// Owed implements prompt.Abandoner.
func (t promptTx) Owed(ctx context.Context, taskID, sessionID string) ([]prompt.Delivery, error) {
	rows, err := all[deliveryRow](ctx, t.querier, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("task_id = ?", taskID).Where("session_id = ?", sessionID).
			Where("state IN (?)", bun.List([]prompt.State{
				prompt.StatePending, prompt.StateReserved, prompt.StateCombined, prompt.StateAttempted,
			})).Order("position")
	})
	return each(rows, deliveryRow.delivery), err
}
