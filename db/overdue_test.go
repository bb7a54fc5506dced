package db_test

import (
	"context"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
)

// OP-7, DL-3: what is overdue is judged by the database's clock, and only in the state
// that it is overdue in.
func TestOverdue(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		w := newContextScene(t, open(t))
		var now time.Time
		err := w.store.InRead(t.Context(), func(ctx context.Context, tx *db.Tx) (err error) {
			now, err = tx.Now(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		owe := func(state string, lease, attempted time.Duration) {
			session := domain.NewID()
			w.exec(`INSERT INTO deliveries (id, task_id, session_id, incarnation_id, kind, state, position, content, plan_mode,
				attachments, plan_comment_refs, metadata, version, lease_expires_at, attempted_at, pending_at, created_at, updated_at)
				VALUES (?, ?, ?, '', 'queued', ?, 1, '', FALSE, '[]', '[]', '{}', 1, ?, ?, ?, ?, ?)`,
				domain.NewID(), w.task, session, state, now.Add(lease), now.Add(attempted), sceneStart, sceneStart, sceneStart)
		}
		const ago, ahead = -30 * time.Minute, time.Hour
		owe("reserved", ahead, ahead)
		owe("reserved", ago, ahead)
		owe("reserved", 4*ago, ahead)
		owe("attempted", ago, ago)
		owe("attempted", 4*ago, 4*ago)
		owe("acknowledged", 4*ago, 4*ago)
		owe("outcome_unknown", 4*ago, 4*ago)
		for _, c := range []struct {
			grace time.Duration
			want  db.Overdue
		}{
			{0, db.Overdue{Reservations: 2, Attempts: 2}},
			{time.Hour, db.Overdue{Reservations: 1, Attempts: 1}},
			{3 * time.Hour, db.Overdue{}},
		} {
			if got, err := w.store.Overdue(t.Context(), c.grace, c.grace); err != nil || got != c.want {
				t.Errorf("behind %s: %+v, %v, want %+v", c.grace, got, err, c.want)
			}
		}
	})
}
