package db

import (
	"context"
	"fmt"

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

// Place implements access.Store. Every request below a task asks it, so it is
// prepared: built anew each time it was an eighth of the work of an admission.
func (s accessStore) Place(ctx context.Context, r access.Resource, id string) (p access.Place, found bool, err error) {
	place := query(func(scan func(dest ...any) error) error {
		found = true
		return scan(&p.TaskID, &p.WorkspaceID)
	}, placeSQL(r), id)
	if err := s.readPrepared(ctx, place); err != nil {
		return access.Place{}, false, fmt.Errorf("look up %s: %w", r, err)
	}
	return p, found, nil
}

func placeSQL(r access.Resource) string {
	if table, ok := resourceTables[r]; ok {
		return "SELECT t.id, t.workspace_id FROM tasks AS t JOIN " + table + " AS r ON r.task_id = t.id WHERE r.id = $1"
	}
	return "SELECT id, workspace_id FROM tasks WHERE id = $1"
}
