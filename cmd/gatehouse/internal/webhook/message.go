package webhook

import (
	"encoding/json"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
)

// eventType is the type of the only message there is.
const eventType = "turn.before_start"

// message is the body of a question.
type message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

// data is a turn that is about to start, as docs/operations.md describes it.
type data struct {
	TaskID                string          `json:"task_id"`
	SessionID             string          `json:"session_id"`
	ClientID              string          `json:"client_id"`
	Content               string          `json:"content"`
	PlanCommentRefs       []plan.Ref      `json:"plan_comment_refs"`
	RequirePrimarySession bool            `json:"require_primary_session"`
	PlanMode              bool            `json:"plan_mode"`
	Model                 *string         `json:"model"`
	AttachmentIDs         []string        `json:"attachment_ids"`
	Metadata              json.RawMessage `json:"metadata"`
}

func dataOf(t prompt.TurnStart) data {
	return data{
		TaskID:                t.TaskID,
		SessionID:             t.SessionID,
		ClientID:              t.ClientID,
		Content:               t.Content,
		PlanCommentRefs:       t.Refs,
		RequirePrimarySession: t.RequirePrimary,
		PlanMode:              t.PlanMode,
		Model:                 t.Model,
		AttachmentIDs:         t.AttachmentIDs,
		Metadata:              t.Metadata,
	}
}

// messageID is the same for every question about one client id of one task, so that
// whoever is asked knows a repetition.
func messageID(t prompt.TurnStart) string { return domain.DeriveID(t.TaskID, eventType, t.ClientID) }
