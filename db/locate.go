package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"gatehouse/domain/access"
)

// resourceTables are where the resources below a task stand.
//
//exhaustive:ignore
var resourceTables = map[access.Resource]string{
	access.ResourceSession:    "task_sessions",
	access.ResourceTurn:       "task_session_turns",
	access.ResourceMessage:    "task_session_messages",
	access.ResourceDelivery:   "deliveries",
	access.ResourceExecution:  "subagent_executions",
	access.ResourceFileChange: "message_file_changes",
}

// Place implements access.Store.
func (s accessStore) Place(ctx context.Context, r access.Resource, id string) (p access.Place, found bool, err error) {
	err = s.read(ctx, func(ctx context.Context, q querier) error {
		query := q.NewSelect().TableExpr("tasks AS t").ColumnExpr("t.id AS task_id, t.workspace_id")
		if table, ok := resourceTables[r]; ok {
			query = query.Join("JOIN ? AS r ON r.task_id = t.id", bun.Ident(table)).Where("r.id = ?", id)
		} else {
			query = query.Where("t.id = ?", id)
		}
		switch err := query.Scan(ctx, &p.TaskID, &p.WorkspaceID); {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return fmt.Errorf("look up %s: %w", r, err)
		}
		found = true
		return nil
	})
	return p, found, err
}
