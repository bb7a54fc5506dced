package db

import (
	"context"
	"fmt"

	"gatehouse/domain/event"
)

// Stamp implements event.Stamper.
func (t *tx) Stamp(ctx context.Context, taskID string, c event.Change) (seq int64, err error) {
	q := t.NewUpdate().Table("tasks").Set("change_seq = change_seq + 1").Where("id = ?", taskID).Returning("change_seq")
	for _, topic := range []struct {
		touched bool
		column  string
	}{{c.Task, "task_seq"}, {c.Plan, "plan_seq"}, {c.Comments, "comments_seq"}} {
		if topic.touched {
			q = q.Set(topic.column + " = change_seq + 1")
		}
	}
	if err := q.Scan(ctx, &seq); err != nil {
		return 0, fmt.Errorf("stamp task: %w", err)
	}
	for _, s := range c.Sessions {
		if err := t.stampSession(ctx, s, seq); err != nil {
			return 0, err
		}
	}
	return seq, nil
}

func (t *tx) stampSession(ctx context.Context, c event.SessionChange, seq int64) error {
	q := t.NewUpdate().Table("task_sessions").Where("id = ?", c.SessionID)
	touched := false
	for _, topic := range []struct {
		touched bool
		column  string
	}{{c.Queue, "queue_seq"}, {c.Messages, "messages_seq"}, {c.Executions, "executions_seq"}} {
		if topic.touched {
			touched = true
			q = q.Set(topic.column+" = ?", seq)
		}
	}
	if !touched {
		return nil
	}
	if _, err := q.Exec(ctx); err != nil {
		return fmt.Errorf("stamp session: %w", err)
	}
	return nil
}
