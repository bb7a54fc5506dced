package db

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

type messageRow struct {
	bun.BaseModel `bun:"table:task_session_messages,alias:m"`
	session.Message
}

// transcribed returns the transcript row of a delivery, nil when there is none, or
// none any more.
func (t *tx) transcribed(ctx context.Context, d prompt.Delivery) (*session.Message, error) {
	if d.MessageID == nil {
		return nil, nil //nolint:nilnil // no row yet is no failure
	}
	row, err := one[messageRow](ctx, t.querier, errNoRow, "id = ? AND deleted_at IS NULL", *d.MessageID)
	if errors.Is(err, errNoRow) {
		return nil, nil //nolint:nilnil // removed since
	}
	return &row.Message, err
}

// errNoRow says that there is no such row, where that is no failure.
var errNoRow = errors.New("no such row")
