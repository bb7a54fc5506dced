package prompt

import (
	"context"
	"encoding/json"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// transcribed reports whether the transcript has a row of d. One that was rolled back
// before the boundary is none: the agent has yet to be told of it.
func (d Delivery) transcribed(ctx context.Context, tx Transcript) (bool, error) {
	if d.MessageID == nil {
		return false, nil
	}
	return tx.Transcribed(ctx, *d.MessageID)
}

// transcribe returns the transcript row of d, the next of s, and links d to it. Its
// id follows from the delivery's, so that there is never a second one (DL-4), or from
// that of the row it stands in for, which keeps its own.
func (d *Delivery) transcribe(s *session.Session, now time.Time) *session.Message {
	s.LastMessageSeq++
	space := d.ID
	if d.MessageID != nil {
		space = *d.MessageID
	}
	id := domain.DeriveID(space, "message")
	d.MessageID = &id
	return &session.Message{
		ID:        id,
		TaskID:    d.TaskID,
		SessionID: d.SessionID,
		Seq:       s.LastMessageSeq,
		Role:      session.RoleUser,
		Type:      session.TypeMessage,
		Content:   d.Content,
		ToolCalls: json.RawMessage("[]"),
		TurnID:    d.TurnID,
		Metadata:  d.Metadata,
		CreatedAt: now,
		UpdatedAt: now,
	}
}

// write appends the transcript row of d. Runners bring ids of their own for messages, and
// one may have brought this one. It does not stand in the way of the prompt, which then
// has a row of another id.
func (d *Delivery) write(ctx context.Context, tx Transcript, s *session.Session, now time.Time) error {
	row := d.transcribe(s, now)
	inserted, err := tx.AppendMessage(ctx, *row)
	if err != nil || inserted {
		return err
	}
	row.ID = domain.NewID()
	d.MessageID = &row.ID
	if inserted, err = tx.AppendMessage(ctx, *row); err == nil && !inserted {
		return session.ErrMessageConflict
	}
	return err
}
