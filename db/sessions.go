package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// Sessions is the store of sessions and turns.
func (s *Store) Sessions() session.Store { return sessionStore{s} }

type sessionStore struct{ *Store }

type sessionRow struct {
	bun.BaseModel `bun:"table:task_sessions,alias:s"`
	session.Session
}

func (r sessionRow) session() session.Session { return r.Session }

// InTx implements session.Store.
func (s sessionStore) InTx(ctx context.Context, taskID string, fn func(context.Context, session.WriteTx) error) error {
	return s.inTx(ctx, taskID, func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}

// Session implements session.Store.
func (s sessionStore) Session(ctx context.Context, id string) (found session.Session, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		row, err := one[sessionRow](ctx, q, session.ErrNotFound, "id = ?", id)
		found = row.Session
		return err
	})
	return found, err
}

// Sessions implements session.Store.
func (s sessionStore) Sessions(ctx context.Context, taskID string, after *domain.Position, limit int) (sessions []session.Session, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[sessionRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			return listBehind(q.Where("task_id = ?", taskID), "created_at", after, limit)
		})
		sessions = each(rows, sessionRow.session)
		return err
	})
	return sessions, err
}

// wholeSessionsSQL is prepared, as most mutations ask it behind the task.
const wholeSessionsSQL = `SELECT id, task_id, kind, parent_session_id, agent_type, title, workspace_path, state, auto_run,
  incarnation_id, last_message_seq, last_position, queue_revision, create_fingerprint, queue_seq, messages_seq,
  executions_seq, interrupt_seq, created_at, updated_at
FROM task_sessions`

// scanSession reads one row of [wholeSessionsSQL] into s.
func scanSession(s *session.Session) func(scan func(dest ...any) error) error {
	return into(
		&s.ID, &s.TaskID, &s.Kind, &s.ParentSessionID, &s.AgentType, &s.Title,
		&s.WorkspacePath, &s.State, &s.AutoRun, &s.IncarnationID, &s.LastMessageSeq,
		&s.LastPosition, &s.QueueRevision, &s.CreateFingerprint, &s.QueueSeq, &s.MessagesSeq,
		&s.ExecutionsSeq, &s.InterruptSeq, scanTime(&s.CreatedAt), scanTime(&s.UpdatedAt),
	)
}

// LockSession implements session.Locker.
func (t *tx) LockSession(ctx context.Context, taskID, id string) (locked session.Session, err error) {
	err = t.batch(ctx, query(scanSession(&locked), wholeSessionsSQL+" WHERE id = $1 AND task_id = $2"+t.dialect.lock(), id, taskID))
	switch {
	case err != nil:
		return locked, fmt.Errorf("lock session: %w", err)
	case locked.ID == "":
		return locked, session.ErrNotFound
	}
	return locked, nil
}

// Session implements session.WriteTx.
func (t *tx) Session(ctx context.Context, id string) (session.Session, error) {
	row, err := one[sessionRow](ctx, t.querier, session.ErrNotFound, "id = ?", id)
	return row.Session, err
}

// InsertSession implements session.WriteTx.
func (t *tx) InsertSession(ctx context.Context, made session.Session) (bool, error) {
	return t.insertOnce(ctx, &sessionRow{Session: made}, made.ID, made.TaskID, session.ErrConflict)
}

// UpdateSession implements session.WriteTx.
func (t *tx) UpdateSession(ctx context.Context, changed session.Session) error {
	return update(ctx, t.querier, &sessionRow{Session: changed},
		"title", "workspace_path", "auto_run", "state", "incarnation_id", "queue_revision", "updated_at")
}

// SetPrimarySession implements session.WriteTx.
func (t *tx) SetPrimarySession(ctx context.Context, taskID string, sessionID *string) error {
	_, err := t.NewUpdate().Table("tasks").Set("primary_session_id = ?", sessionID).Where("id = ?", taskID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("set primary session: %w", err)
	}
	return nil
}
