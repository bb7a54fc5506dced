package db

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
)

type attachmentRow struct {
	bun.BaseModel `bun:"table:attachments,alias:a"`
	prompt.Attachment
}

func (r attachmentRow) attachment() prompt.Attachment { return r.Attachment }

// present narrows q to the attachments that have not expired, by the database's
// clock (OP-3).
func (s *Store) present(q *bun.SelectQuery) *bun.SelectQuery {
	return q.Where("(expires_at IS NULL OR expires_at > ?)", s.dialect.now())
}

// Attachments implements prompt.AttachmentStore.
func (s promptStore) Attachments(ctx context.Context, taskID string, after *domain.Position, limit int) (found []prompt.Attachment, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		rows, err := all[attachmentRow](ctx, q, func(q *bun.SelectQuery) *bun.SelectQuery {
			return listBehind(s.present(q.Where("task_id = ?", taskID)), "created_at", after, limit)
		})
		found = each(rows, attachmentRow.attachment)
		return err
	})
	return found, err
}

// AttachmentContent implements prompt.AttachmentStore. The bytes come prepared: bun
// would have them as text.
func (s promptStore) AttachmentContent(ctx context.Context, taskID, id string) (prompt.Attachment, []byte, error) {
	var found prompt.Attachment
	var content []byte
	now, arg := s.dialect.nowArg(3)
	read := query(func(scan func(dest ...any) error) error {
		return scan(&found.ID, &found.TaskID, &found.Name, &found.MediaType, &found.Bytes, &found.DeliveryID,
			scanTime(&found.CreatedAt), scanNullTime(&found.ExpiresAt), &content)
	}, `SELECT a.id, a.task_id, a.name, a.media_type, a.bytes, a.delivery_id, a.created_at, a.expires_at, c.content
FROM attachments AS a JOIN attachment_contents AS c ON c.attachment_id = a.id
WHERE a.id = $1 AND a.task_id = $2 AND (a.expires_at IS NULL OR a.expires_at > `+now+`)`, append([]any{id, taskID}, arg...)...)
	if err := s.readPrepared(ctx, read); err != nil {
		return prompt.Attachment{}, nil, fmt.Errorf("read attachment: %w", err)
	}
	if found.ID == "" {
		return prompt.Attachment{}, nil, prompt.ErrAttachmentNotFound
	}
	return found, content, nil
}

// TasksWithExpired implements prompt.AttachmentStore. The clock stands in a query of
// its own, or PostgreSQL would ask it for every row and use no index; and what has
// expired is found before it is put in order, or SQLite would go through the
// attachments of all tasks because they are.
func (s promptStore) TasksWithExpired(ctx context.Context, limit int) (tasks []string, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		err := q.NewRaw(`WITH expired AS MATERIALIZED (SELECT task_id FROM attachments WHERE expires_at <= (SELECT ?))
SELECT DISTINCT task_id FROM expired ORDER BY task_id LIMIT ?`, s.dialect.now(), limit).Scan(ctx, &tasks)
		if err != nil {
			return fmt.Errorf("list expired attachments: %w", err)
		}
		return nil
	})
	return tasks, err
}

// Attachment implements prompt.Staging.
func (t promptTx) Attachment(ctx context.Context, taskID, id string) (prompt.Attachment, error) {
	row, err := one[attachmentRow](ctx, t.querier, prompt.ErrAttachmentNotFound, "id = ? AND task_id = ?", id, taskID)
	return row.Attachment, err
}

// StagedAttachments implements prompt.Staging.
func (t promptTx) StagedAttachments(ctx context.Context, taskID string, now time.Time) (int64, error) {
	n, err := t.NewSelect().Table("attachments").Where("task_id = ?", taskID).Where("expires_at > ?", now).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count attachments: %w", err)
	}
	return n, nil
}

// InsertAttachment implements prompt.Staging.
func (t promptTx) InsertAttachment(ctx context.Context, a prompt.Attachment, content []byte) error {
	err := t.batch(ctx,
		exec(`INSERT INTO attachments (id, task_id, name, media_type, bytes, delivery_id, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, NULL, $6, $7)`,
			a.ID, a.TaskID, a.Name, a.MediaType, a.Bytes, t.dialect.timeArg(a.CreatedAt), t.dialect.timeArg(*a.ExpiresAt)),
		exec("INSERT INTO attachment_contents (attachment_id, content) VALUES ($1, $2)", a.ID, content))
	if err != nil {
		return fmt.Errorf("insert attachment: %w", err)
	}
	return nil
}

// DeleteAttachment implements prompt.Staging. The bytes go by their foreign key.
func (t promptTx) DeleteAttachment(ctx context.Context, id string) error {
	gone := exec("DELETE FROM attachments WHERE id = $1 AND delivery_id IS NULL", id)
	gone.affects = 1
	if err := t.batch(ctx, gone); err != nil {
		return fmt.Errorf("delete attachment: %w", err)
	}
	return nil
}

// DeleteExpired implements prompt.Staging.
func (t promptTx) DeleteExpired(ctx context.Context, taskID string, now time.Time, limit int) (int, error) {
	n, err := affected(t.NewRaw(`DELETE FROM attachments WHERE id IN (
		SELECT id FROM attachments WHERE task_id = ? AND expires_at <= ? ORDER BY created_at, id LIMIT ?)`, taskID, now, limit).Exec(ctx))
	if err != nil {
		return 0, fmt.Errorf("delete expired attachments: %w", err)
	}
	return n, nil
}

// claim gives a delivery the attachments that it carries, at least one. All of them
// were found to be staged, under the lock of the task, or the transaction fails.
func (t *tx) claim(d prompt.Delivery) stmt {
	ids := each(d.Attachments, func(a prompt.Attached) string { return a.ID })
	taken := exec(`UPDATE attachments SET delivery_id = $1, expires_at = NULL
WHERE task_id = $2 AND delivery_id IS NULL AND `+t.dialect.among("id", 3), d.ID, d.TaskID, t.dialect.textsArg(ids))
	taken.affects = int64(len(ids))
	return taken
}

// namedAttachments reads into read the attachments of a task that an admission names, and
// what time it is for them.
func (t *tx) namedAttachments(taskID string, ids []string, read *sceneRead) stmt {
	now, arg := t.dialect.nowArg(3)
	return query(func(scan func(dest ...any) error) error {
		a := prompt.Attachment{TaskID: taskID}
		err := scan(&a.ID, &a.Name, &a.MediaType, &a.Bytes, &a.DeliveryID,
			scanTime(&a.CreatedAt), scanNullTime(&a.ExpiresAt), scanTime(&read.now))
		read.attachments = append(read.attachments, a)
		return err
	}, `SELECT id, name, media_type, bytes, delivery_id, created_at, expires_at, `+now+`
FROM attachments WHERE task_id = $1 AND `+t.dialect.among("id", 2), append([]any{taskID, t.dialect.textsArg(ids)}, arg...)...)
}
