package db

import (
	"context"
	"errors"

	"github.com/uptrace/bun"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Prompts is the store of admissions and deliveries.
func (s *Store) Prompts() prompt.Store { return promptStore{s} }

type promptStore struct{ *Store }

type admissionRow struct {
	bun.BaseModel `bun:"table:admissions,alias:a"`
	prompt.Admission
}

// Admit implements prompt.Store. It is the hot path: on PostgreSQL two round trips,
// BEGIN with the reads and the writes with COMMIT; on SQLite prepared statements.
func (s promptStore) Admit(ctx context.Context, q prompt.SceneQuery, decide func(prompt.Scene) (*prompt.Acceptance, error)) error {
	return s.inTx(ctx, q.TaskID, func(ctx context.Context, t *tx) error {
		sc, err := t.scene(ctx, q, t.dialect.lock())
		if err != nil {
			return err
		}
		accepted, err := decide(sc)
		if err != nil || accepted == nil {
			return err
		}
		return t.commitWith(ctx, t.acceptance(*accepted)...)
	})
}

// Scene implements prompt.Store.
func (s promptStore) Scene(ctx context.Context, q prompt.SceneQuery) (sc prompt.Scene, err error) {
	err = s.inRead(ctx, func(ctx context.Context, t *tx) (err error) {
		sc, err = t.scene(ctx, q, "")
		return err
	})
	return sc, err
}

// scene reads what an admission judges, with lock at the end of what it locks.
func (t *tx) scene(ctx context.Context, q prompt.SceneQuery, lock string) (prompt.Scene, error) {
	var read sceneRead
	if err := t.batch(ctx, t.sceneStmts(q, &read, lock)...); err != nil {
		return prompt.Scene{}, err
	}
	if read.task.ID == "" {
		return prompt.Scene{}, task.ErrNotFound
	}
	prior, err := t.prior(ctx, read.priorID, q)
	if err != nil {
		return prompt.Scene{}, err
	}
	return read.scene(prior), nil
}

// prior reads the admission that had the delivery, nil for none. Only a retry needs
// it, so it is no part of the batch.
func (t *tx) prior(ctx context.Context, deliveryID string, q prompt.SceneQuery) (*prompt.Prior, error) {
	if deliveryID == "" {
		return nil, nil //nolint:nilnil // no prior admission is no failure
	}
	receipt, err := receipt(ctx, t.querier, q.TaskID, q.ClientID)
	if err != nil {
		return nil, err
	}
	message, err := t.transcribed(ctx, receipt.Delivery)
	return &prompt.Prior{Receipt: receipt, Message: message}, err
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

// Receipt implements prompt.Store.
func (s promptStore) Receipt(ctx context.Context, taskID, clientID string) (r prompt.Receipt, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		r, err = receipt(ctx, q, taskID, clientID)
		return err
	})
	return r, err
}

// receipt reads an admission, then its delivery: that one goes only with its
// admission, so who finds the one finds the other, in a state it has had since.
func receipt(ctx context.Context, q querier, taskID, clientID string) (prompt.Receipt, error) {
	a, err := one[admissionRow](ctx, q, prompt.ErrAdmissionNotFound, "task_id = ? AND client_id = ?", taskID, clientID)
	if err != nil {
		return prompt.Receipt{}, err
	}
	d, err := one[deliveryRow](ctx, q, prompt.ErrAdmissionNotFound, "id = ?", a.DeliveryID)
	return prompt.Receipt{Admission: a.Admission, Delivery: d.Delivery}, err
}
