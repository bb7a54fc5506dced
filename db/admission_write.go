package db

import (
	"encoding/json"

	"gatehouse/domain/event"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// The writes of an admission, in the order of the design. They travel with COMMIT, so
// what they have to meet stands in the statements themselves. All ids are new, or
// were looked up under the lock of the task: nothing can be taken.
const (
	insertMessageSQL = `INSERT INTO task_session_messages (id, task_id, session_id, seq, role, type, content, thinking,
  tool_calls, tool_call_id, turn_id, metadata, sanitized, request_fingerprint, deleted_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, $8, NULL, $9, $10, $11, $12, NULL, $13, $14)`

	insertDeliverySQL = `INSERT INTO deliveries (id, task_id, session_id, incarnation_id, kind, client_id, state, position,
  content, plan_mode, model, attachments, plan_comment_refs, metadata, message_id, version,
  pending_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`

	insertAdmissionSQL = `INSERT INTO admissions (task_id, client_id, delivery_id, requested_session_id, fingerprint,
  consumed_comment_refs, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

	// The numbers of the session and its stamps (EV-1) are one write. They were read
	// under its lock.
	advanceSessionSQL = `UPDATE task_sessions SET last_message_seq = $1, last_position = $2, queue_revision = $3,
  queue_seq = $4, messages_seq = $5, updated_at = $6
WHERE id = $7`

	stampTaskSQL         = `UPDATE tasks SET change_seq = $1 WHERE id = $2`
	stampTaskCommentsSQL = `UPDATE tasks SET change_seq = $1, comments_seq = $2 WHERE id = $3`
)

// acceptance writes what an admission accepted. Consuming the comments is what every
// way out of a plan does, see [consumeComments] (AD-6).
func (t *tx) acceptance(a prompt.Acceptance) []stmt {
	stmts := make([]stmt, 0, len(a.Consumed)+7)
	if len(a.Delivery.Attachments) > 0 {
		stmts = append(stmts, t.claim(a.Delivery))
	}
	if a.Message != nil {
		stmts = append(stmts, t.insertMessage(*a.Message))
	}
	stmts = append(stmts, t.insertDelivery(a.Delivery), t.insertAdmission(a.Admission))
	if len(a.Consumed) > 0 {
		stmts = append(stmts, consumeComments(a.Consumed)...)
	}
	s := a.Session
	return append(stmts,
		exec(advanceSessionSQL, s.LastMessageSeq, s.LastPosition, s.QueueRevision,
			s.QueueSeq, s.MessagesSeq, t.dialect.timeArg(s.UpdatedAt), s.ID),
		stampTask(a.Notice))
}

func (t *tx) insertMessage(m session.Message) stmt {
	return exec(insertMessageSQL, m.ID, m.TaskID, m.SessionID, m.Seq, string(m.Role), string(m.Type), m.Content,
		string(m.ToolCalls), m.TurnID, string(m.Metadata), m.Sanitized, m.RequestFingerprint,
		t.dialect.timeArg(m.CreatedAt), t.dialect.timeArg(m.UpdatedAt))
}

func (t *tx) insertDelivery(d prompt.Delivery) stmt {
	return exec(insertDeliverySQL, d.ID, d.TaskID, d.SessionID, d.IncarnationID, string(d.Kind), d.ClientID,
		string(d.State), d.Position, d.Content, d.PlanMode, d.Model, jsonArg(d.Attachments),
		jsonArg(d.PlanCommentRefs), string(d.Metadata), d.MessageID, d.Version,
		t.dialect.timeArg(d.PendingAt), t.dialect.timeArg(d.CreatedAt), t.dialect.timeArg(d.UpdatedAt))
}

func (t *tx) insertAdmission(a prompt.Admission) stmt {
	return exec(insertAdmissionSQL, a.TaskID, a.ClientID, a.DeliveryID, a.RequestedSessionID,
		jsonArg(a.Fingerprint), jsonArg(a.ConsumedCommentRefs), t.dialect.timeArg(a.CreatedAt))
}

// stampTask writes the change number that was decided under the lock (EV-1).
func stampTask(n event.Notice) stmt {
	if n.Change.Comments {
		return exec(stampTaskCommentsSQL, n.Seq, n.Seq, n.TaskID)
	}
	return exec(stampTaskSQL, n.Seq, n.TaskID)
}

// jsonArg is a list or map of plain values as the text of a JSON column.
func jsonArg(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	return string(b)
}
