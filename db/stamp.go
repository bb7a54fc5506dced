package db

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/domain/event"
)

// Stamp implements event.Stamper. Every mutation ends with it, so it is one batch of
// prepared statements; there are few, one for each set of topics.
func (t *tx) Stamp(ctx context.Context, taskID string, c event.Change) (seq int64, err error) {
	if err := t.batch(ctx, query(into(&seq), stampSQL(c), taskID)); err != nil {
		return 0, fmt.Errorf("stamp task: %w", err)
	}
	var stmts []stmt
	for _, s := range c.Sessions {
		if columns := touched(s); len(columns) > 0 {
			stmts = append(stmts, exec(stampSessionSQL(columns), seq, s.SessionID))
		}
	}
	if len(stmts) == 0 {
		return seq, nil
	}
	if err := t.batch(ctx, stmts...); err != nil {
		return 0, fmt.Errorf("stamp sessions: %w", err)
	}
	return seq, nil
}

func stampSQL(c event.Change) string {
	columns := []string{"change_seq"}
	for _, topic := range []struct {
		touched bool
		column  string
	}{{c.Task, "task_seq"}, {c.Plan, "plan_seq"}, {c.Comments, "comments_seq"}} {
		if topic.touched {
			columns = append(columns, topic.column)
		}
	}
	const next = " = change_seq + 1"
	return "UPDATE tasks SET " + strings.Join(columns, next+", ") + next + " WHERE id = $1 RETURNING change_seq"
}

// touched are the columns of the topics of a session that changed.
func touched(c event.SessionChange) (columns []string) {
	for _, topic := range []struct {
		touched bool
		column  string
	}{{c.Queue, "queue_seq"}, {c.Messages, "messages_seq"}, {c.Executions, "executions_seq"}, {c.Interrupt, "interrupt_seq"}} {
		if topic.touched {
			columns = append(columns, topic.column)
		}
	}
	return columns
}

func stampSessionSQL(columns []string) string {
	return "UPDATE task_sessions SET " + strings.Join(columns, " = $1, ") + " = $1 WHERE id = $2"
}
