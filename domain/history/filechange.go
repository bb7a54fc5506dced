package history

import (
	"context"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// ErrFileChangeNotFound names no file change.
var ErrFileChangeNotFound = &domain.Error{Kind: domain.KindNotFound, Code: "file_change_not_found", Detail: "There is no such file change."}

// FileChange returns a change in full, as the history of the session that made it
// shows it (HI-24).
func (s *Service) FileChange(ctx context.Context, id string) (SourcedChange, error) {
	c, of, err := s.store.FileChange(ctx, id)
	if err != nil {
		return SourcedChange{}, fmt.Errorf("read file change %s: %w", id, err)
	}
	if of == nil { // deleted: what is still shown of it is what its parent delegated
		of = &session.Session{ID: c.SessionID, Kind: session.KindSubagent}
	}
	return SourcedChange{FileChange: c, SourceSessionID: of.ID, SourceType: ownSource(*of), SourceAgentType: ownAgent(*of)}, nil
}
