package db

import (
	"time"

	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// The reads of an admission, in the order of the locks. They are one batch, whatever
// the first of them finds: a statement is cheaper than a round trip.
const (
	// The task row comes first: from here on nothing of the task changes.
	lockTaskSQL = `SELECT id, archived, primary_session_id, change_seq FROM tasks WHERE id = $1`

	// Replay is decided before every look at session and comments (AD-7).
	priorSQL = `SELECT delivery_id FROM admissions WHERE task_id = $1 AND client_id = $2`

	// The states are those of the partial index, spelled as it spells them.
	lockSessionSQL = `SELECT s.id, s.task_id, s.state, s.incarnation_id, s.last_message_seq, s.last_position,
  s.queue_revision, s.messages_seq,
  (SELECT count(*) FROM deliveries AS d
   WHERE d.session_id = s.id AND d.state IN ('pending', 'reserved', 'combined'))
FROM task_sessions AS s WHERE s.id = $1 AND s.task_id = $2`

	// Only for the primary guard, which tells what the primary session is (AD-4).
	primarySQL = `SELECT s.id, s.state FROM tasks AS t JOIN task_sessions AS s ON s.id = t.primary_session_id
WHERE t.id = $1`
)

// sceneRead is what the reads found. What was not found has an empty id.
type sceneRead struct {
	task       task.Task
	priorID    string
	session    session.Session
	primary    session.Session
	unfinished int64
	comments   plan.Snapshot

	attachments []prompt.Attachment // those of the task among the named ones
	now         time.Time           // set with the first of them
}

// sceneStmts read into read. lock is that of the dialect, or empty for a look that
// locks nothing.
func (t *tx) sceneStmts(q prompt.SceneQuery, read *sceneRead, lock string) []stmt {
	read.comments.TaskID = q.TaskID
	ts, ses, primary := &read.task, &read.session, &read.primary
	stmts := []stmt{
		query(into(&ts.ID, &ts.Archived, &ts.PrimarySessionID, &ts.ChangeSeq),
			lockTaskSQL+lock, q.TaskID),
		query(into(&read.priorID), priorSQL, q.TaskID, q.ClientID),
		query(into(&ses.ID, &ses.TaskID, &ses.State, &ses.IncarnationID, &ses.LastMessageSeq, &ses.LastPosition,
			&ses.QueueRevision, &ses.MessagesSeq, &read.unfinished),
			lockSessionSQL+lock, q.SessionID, q.TaskID),
		query(scanComments(&read.comments), commentsSQL, q.TaskID),
	}
	if q.Primary {
		stmts = append(stmts, query(into(&primary.ID, &primary.State), primarySQL, q.TaskID))
	}
	if len(q.AttachmentIDs) > 0 {
		stmts = append(stmts, t.namedAttachments(q.TaskID, q.AttachmentIDs, read))
	}
	return stmts
}

// into reads the columns of a row to dest.
func into(dest ...any) func(scan func(dest ...any) error) error {
	return func(scan func(dest ...any) error) error { return scan(dest...) }
}

func (r sceneRead) scene(prior *prompt.Prior) prompt.Scene {
	sc := prompt.Scene{Task: r.task, Prior: prior, Unfinished: r.unfinished, Attachments: r.attachments, Now: r.now}
	if r.session.ID != "" {
		sc.Session = &r.session
	}
	if r.primary.ID != "" {
		sc.Primary = &r.primary
	}
	if r.comments.PlanID != "" {
		sc.Comments = &r.comments
	}
	return sc
}
