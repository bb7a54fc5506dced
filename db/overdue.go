package db

import (
	"context"
	"fmt"
	"time"
)

// Overdue counts deliveries that recovery should have taken up (DL-3).
type Overdue struct {
	Reservations int64 // whose lease is over
	Attempts     int64 // that nobody acknowledged
}

// Overdue counts the reservations whose lease ended more than expired ago, and the
// attempts that were made more than unacknowledged ago and not acknowledged, by the
// database's clock (OP-3).
func (s *Store) Overdue(ctx context.Context, expired, unacknowledged time.Duration) (found Overdue, err error) {
	err = s.inRead(ctx, func(ctx context.Context, t *tx) error {
		now, err := t.now(ctx)
		if err != nil {
			return err
		}
		return t.NewRaw(`SELECT
  (SELECT COUNT(*) FROM deliveries WHERE state = 'reserved' AND lease_expires_at <= ?),
  (SELECT COUNT(*) FROM deliveries WHERE state = 'attempted' AND attempted_at <= ?)`,
			now.Add(-expired), now.Add(-unacknowledged)).Scan(ctx, &found.Reservations, &found.Attempts)
	})
	if err != nil {
		return Overdue{}, fmt.Errorf("count overdue deliveries: %w", err)
	}
	return found, nil
}
