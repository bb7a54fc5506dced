package prompt

import (
	"encoding/json"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// transcribe returns the transcript row of d, the next of s, and links d to it. Its
// id follows from the delivery's, so that there is never a second one (DL-4).
func (d *Delivery) transcribe(s *session.Session, now time.Time) *session.Message {
	s.LastMessageSeq++
	id := domain.DeriveID(d.ID, "message")
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
