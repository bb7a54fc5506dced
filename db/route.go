package db

import (
	"context"
	"fmt"

	"gatehouse/domain/prompt"
)

// routeSQL spells the states as the partial index does.
const routeSQL = `SELECT s.id, s.state,
  EXISTS (SELECT 1 FROM deliveries AS d WHERE d.session_id = s.id AND d.state IN ('pending', 'reserved', 'combined'))
FROM tasks AS t JOIN task_sessions AS s ON s.id = t.primary_session_id
WHERE t.id = $1`

// Route implements prompt.Store. It is prepared: every Run asks it.
func (s promptStore) Route(ctx context.Context, taskID string) (found *prompt.Route, err error) {
	err = s.readPrepared(ctx, query(func(scan func(dest ...any) error) error {
		found = &prompt.Route{}
		return scan(&found.SessionID, &found.State, &found.Owed)
	}, routeSQL, taskID))
	if err != nil {
		return nil, fmt.Errorf("look up the primary session: %w", err)
	}
	return found, nil
}
