package prompt

import (
	"context"
	"fmt"
	"time"

	"gatehouse/domain"
)

// AttachmentStore is the part of a [Store] that reads attachments. Those that have
// expired by the database's clock are not there, removed or not (AD-10).
type AttachmentStore interface {
	// Attachments returns at most limit attachments of a task, oldest first, behind
	// after when that is not nil. It reads none of their bytes.
	Attachments(ctx context.Context, taskID string, after *domain.Position, limit int) ([]Attachment, error)

	// AttachmentContent returns an attachment of a task with its bytes, or
	// [ErrAttachmentNotFound].
	AttachmentContent(ctx context.Context, taskID, id string) (Attachment, []byte, error)

	// TasksWithExpired returns tasks that have attachments to remove, at most limit.
	TasksWithExpired(ctx context.Context, limit int) ([]string, error)
}

// Staging is the part of a transaction that writes attachments.
type Staging interface {
	// Attachment returns an attachment of a task, also one that has expired and is
	// not removed yet, or [ErrAttachmentNotFound].
	Attachment(ctx context.Context, taskID, id string) (Attachment, error)

	// StagedAttachments counts those of a task that can be claimed at now.
	StagedAttachments(ctx context.Context, taskID string, now time.Time) (int64, error)

	// InsertAttachment stores an attachment with its bytes.
	InsertAttachment(ctx context.Context, a Attachment, content []byte) error

	// DeleteAttachment removes an attachment with its bytes.
	DeleteAttachment(ctx context.Context, id string) error

	// DeleteExpired removes at most limit attachments of a task that nobody claimed
	// until now, and counts them.
	DeleteExpired(ctx context.Context, taskID string, now time.Time, limit int) (int, error)
}

// Attachments returns one page of a task's attachments, staged and claimed, oldest
// first.
func (s *Service) Attachments(ctx context.Context, taskID string, r domain.PageRequest) (domain.Page[Attachment], error) {
	page, err := domain.ReadPage(r, "attachments/"+taskID,
		func(after *domain.Position, limit int) ([]Attachment, error) {
			return s.store.Attachments(ctx, taskID, after, limit)
		},
		func(a Attachment) domain.Position { return domain.Position{At: a.CreatedAt, ID: a.ID} })
	if err != nil {
		return domain.Page[Attachment]{}, fmt.Errorf("list attachments of task %s: %w", taskID, err)
	}
	return page, nil
}

// AttachmentContent returns an attachment of a task with its bytes, or
// [ErrAttachmentNotFound].
func (s *Service) AttachmentContent(ctx context.Context, taskID, id string) (Attachment, []byte, error) {
	return s.store.AttachmentContent(ctx, taskID, id)
}

// DeleteAttachment removes a staged attachment. A claimed one stays with its
// delivery (AD-10).
//
// Errors: [task.ErrNotFound], [task.ErrArchived], [ErrAttachmentNotFound],
// [ErrAttachmentClaimed].
func (s *Service) DeleteAttachment(ctx context.Context, taskID, id string) error {
	err := s.inActive(ctx, taskID, func(ctx context.Context, tx Tx) error {
		a, err := tx.Attachment(ctx, taskID, id)
		if err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		if _, err := claim([]string{id}, []Attachment{a}, now); err != nil {
			return err // what cannot be claimed cannot be deleted either
		}
		return tx.DeleteAttachment(ctx, id)
	})
	if err != nil {
		return fmt.Errorf("delete attachment: %w", err)
	}
	return nil
}
