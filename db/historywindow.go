package db

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
)

// A window is found by two statements: one reads the session and where the window
// ends on its far side, and one the messages. Both walk an index from the cursor on,
// so a page costs the same wherever it lies.

// visible selects the messages that were not rolled back.
const visible = " FROM task_session_messages WHERE session_id = $1 AND deleted_at IS NULL"

// edge of a window is the seq at which it begins, or, reading on from a cursor, the
// first behind it: 0 when there is none, or when the number of messages decides.
const (
	// edgeBefore is the $3-th user message back from $2, not counting.
	edgeBefore = `COALESCE((SELECT seq` + visible + ` AND role = 'user' AND seq < $2 ORDER BY seq DESC LIMIT 1 OFFSET $3), 0)`

	// edgeAfter is the $3-th user message, not counting, behind the first message
	// behind $2: what precedes the first user message is a round as well.
	edgeAfter = `COALESCE((SELECT seq` + visible + ` AND role = 'user'
  AND seq > (SELECT seq` + visible + ` AND seq > $2 ORDER BY seq LIMIT 1) ORDER BY seq LIMIT 1 OFFSET $3), 0)`

	olderThanEdge   = `CASE WHEN b.edge > 0 THEN (SELECT seq` + visible + ` AND seq < b.edge ORDER BY seq LIMIT 1) IS NOT NULL ELSE false END`
	olderThanCursor = `(SELECT seq` + visible + ` AND seq <= $2 ORDER BY seq LIMIT 1) IS NOT NULL`
	newerRound      = `(SELECT seq` + visible + ` AND role = 'user' AND seq >= $2 ORDER BY seq LIMIT 1) IS NOT NULL`
)

// Whether there is something is asked for as the first of it, not by EXISTS: in a
// session that has most of the messages PostgreSQL looks for that by going through the
// table, past all those of others.

func windowSQL(edge, older string) string {
	return `WITH b AS (SELECT ` + edge + ` AS edge)
SELECT s.id, s.task_id, s.kind, s.agent_type, s.state, s.last_message_seq, b.edge, ` + older + `,
  ` + newerRound + `
FROM task_sessions AS s CROSS JOIN b WHERE s.id = $1`
}

// The ways to look for the far side of a window.
var (
	roundsBeforeSQL = windowSQL(edgeBefore, olderThanEdge)
	roundsAfterSQL  = windowSQL(edgeAfter, olderThanCursor)
	limitBeforeSQL  = windowSQL("0", "false")
	limitAfterSQL   = windowSQL("0", olderThanCursor)
)

// Window implements history.ReadTx.
func (t *tx) Window(ctx context.Context, sessionID string, w history.Window) (history.View, error) {
	v, edge, err := t.windowEdge(ctx, sessionID, w)
	if err != nil {
		return v, err
	}
	from, to := edge, int64(math.MaxInt64)
	switch {
	case w.After != nil:
		from = behind(*w.After)
		if v.More = edge > 0; v.More {
			to = edge
		}
	default:
		v.More = v.Older
		if w.Before != nil {
			to = *w.Before
		}
	}
	size := domain.MaxPageMessages
	if w.Limit > 0 {
		size = w.Limit
	}
	var cut bool
	if v.Messages, cut, err = t.windowMessages(ctx, v.Session, w, from, to, size); err != nil {
		return v, err
	}
	v.More = v.More || cut
	if w.After == nil {
		v.Older = v.More
		slices.Reverse(v.Messages)
	}
	return v, nil
}

// behind is the first seq behind a cursor.
func behind(cursor int64) int64 {
	if cursor == math.MaxInt64 {
		return cursor
	}
	return cursor + 1
}

// windowEdge reads the session of a window, and the window's edge.
func (t *tx) windowEdge(ctx context.Context, sessionID string, w history.Window) (v history.View, edge int64, err error) {
	cursor, sql := int64(math.MaxInt64), limitBeforeSQL
	switch {
	case w.After != nil && w.Rounds > 0:
		cursor, sql = *w.After, roundsAfterSQL
	case w.After != nil:
		cursor, sql = *w.After, limitAfterSQL
	case w.Rounds > 0:
		sql = roundsBeforeSQL
	}
	if w.Before != nil {
		cursor = *w.Before
	}
	args := []any{sessionID, cursor}
	if w.Rounds > 0 {
		args = append(args, w.Rounds-1)
	}
	of := &v.Session
	err = t.batch(ctx, query(func(scan func(...any) error) error {
		return scan(&of.ID, &of.TaskID, &of.Kind, &of.AgentType, &of.State, &of.LastMessageSeq, &edge, &v.Older, &v.NewerRound)
	}, sql, args...))
	if err == nil && of.ID == "" {
		err = session.ErrNotFound
	}
	return v, edge, err
}

const (
	messageFacts = `SELECT id, seq, role, type, tool_call_id, turn_id, sanitized, created_at, updated_at`
	allTexts     = `, content, thinking, tool_calls, metadata`
	userTexts    = `, CASE WHEN role = 'user' THEN content ELSE '' END, CASE WHEN role = 'user' THEN thinking END,
  CASE WHEN role = 'user' THEN tool_calls ELSE '[]' END, CASE WHEN role = 'user' THEN metadata ELSE '{}' END`
	inWindow = visible + ` AND seq >= $2 AND seq < $3 ORDER BY seq`
)

// windowMessages reads the messages of a session in [from, to) from the near side of
// the window, as many as n and [domain.MaxPageText] allow, and whether that cut it.
// What is beyond is not read: it may be more than memory holds (HI-24).
func (t *tx) windowMessages(
	ctx context.Context, of session.Session, w history.Window, from, to int64, n int,
) (messages []session.Message, cut bool, err error) {
	sql := messageFacts + allTexts
	if w.Brief {
		sql = messageFacts + userTexts
	}
	sql += inWindow
	if w.After == nil {
		sql += " DESC"
	}
	bytes := 0
	err = t.batch(ctx, query(func(scan func(...any) error) error {
		m := session.Message{TaskID: of.TaskID, SessionID: of.ID}
		err := scan(&m.ID, &m.Seq, &m.Role, &m.Type, &m.ToolCallID, &m.TurnID, &m.Sanitized,
			scanTime(&m.CreatedAt), scanTime(&m.UpdatedAt),
			&m.Content, &m.Thinking, (*[]byte)(&m.ToolCalls), (*[]byte)(&m.Metadata))
		bytes += textBytes(m)
		if cut = len(messages) == n || len(messages) > 0 && bytes > domain.MaxPageText; cut {
			return cmp.Or(err, errEnough)
		}
		messages = append(messages, m)
		return err
	}, sql+" LIMIT $4", of.ID, from, to, n+1))
	return messages, cut, err
}

func textBytes(m session.Message) int {
	n := len(m.Content) + len(m.ToolCalls) + len(m.Metadata)
	if m.Thinking != nil {
		n += len(*m.Thinking)
	}
	return n
}
