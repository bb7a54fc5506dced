package prompt

import (
	"context"
	"fmt"

	"gatehouse/domain"
)

// NewAttachment asks for a file to be staged.
type NewAttachment struct {
	TaskID    string
	Name      string // at most 500 bytes, no path and without control characters
	MediaType string // as declared; empty is application/octet-stream
	Content   []byte // 1 byte to [domain.MaxAttachmentBytes]
}

// Stage keeps a file for a later prompt of its task. It expires unless an admission
// claims it in time (AD-10). No event tells of it: what is staged is no topic.
//
// Errors: [domain.ValidationError], which it also is when the task has
// [domain.MaxStaged] staged; [task.ErrNotFound], [task.ErrArchived].
func (s *Service) Stage(ctx context.Context, n NewAttachment) (Attachment, error) {
	mediaType, err := n.check()
	if err != nil {
		return Attachment{}, err
	}
	var staged Attachment
	err = s.inActive(ctx, n.TaskID, func(ctx context.Context, tx Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		count, err := tx.StagedAttachments(ctx, n.TaskID, now)
		if err != nil {
			return err
		}
		if count >= domain.MaxStaged {
			return domain.Invalid("/body", domain.ProblemTooMany, "the task has %d attachments that no prompt took yet; delete some, or send them", count)
		}
		staged = Attachment{
			ID:        domain.NewID(),
			TaskID:    n.TaskID,
			Name:      n.Name,
			MediaType: mediaType,
			Bytes:     int64(len(n.Content)),
			CreatedAt: s.now(),
			ExpiresAt: new(now.Add(s.attachmentExpiry)),
		}
		return tx.InsertAttachment(ctx, staged, n.Content)
	})
	if err != nil {
		return Attachment{}, fmt.Errorf("stage attachment: %w", err)
	}
	return staged, nil
}

// check returns the media type in canonical form, or a [domain.ValidationError] with
// every problem found.
func (n NewAttachment) check() (mediaType string, err error) {
	var p domain.Problems
	checkFileName(&p, "/query/name", n.Name)
	mediaType = checkMediaType(&p, "/header/Content-Type", n.MediaType)
	switch {
	case len(n.Content) == 0:
		p.Add("/body", domain.ProblemBlank, "must not be empty")
	case len(n.Content) > domain.MaxAttachmentBytes:
		p.Add("/body", domain.ProblemTooLong, "must be at most %d bytes", domain.MaxAttachmentBytes)
	}
	return mediaType, p.Err()
}

// inActive runs do in a transaction that holds the lock of a task, which is active.
// It is for what no topic of the task shows: nothing is stamped or told.
func (s *Service) inActive(ctx context.Context, taskID string, do func(ctx context.Context, tx Tx) error) error {
	return s.store.InTx(ctx, taskID, func(ctx context.Context, tx Tx) error {
		t, err := tx.LockTask(ctx, taskID)
		if err != nil {
			return err
		}
		if err := t.RequireActive(); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}
