package plan

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gatehouse/domain"
)

const revisionsCursor = "plan_revisions"

// Revisions returns a page of the revisions of a task's current plan, the newest
// first, or [ErrNotFound]. A cursor of another plan, or of one that was deleted
// since, is foreign (API-7).
func (s *Service) Revisions(ctx context.Context, taskID string, r domain.PageRequest) (domain.Page[RevisionInfo], error) {
	none := domain.Page[RevisionInfo]{}
	size, err := r.Size()
	if err != nil {
		return none, err
	}
	planID, before, err := parseRevisionsCursor(r.Cursor)
	if err != nil {
		return none, err
	}
	items, err := s.store.PlanRevisions(ctx, taskID, before, size+1)
	switch {
	case err != nil:
		return none, fmt.Errorf("list plan revisions of task %s: %w", taskID, err)
	case len(items) == 0 && r.Cursor == "":
		return none, fmt.Errorf("list plan revisions of task %s: %w", taskID, ErrNotFound)
	case r.Cursor != "" && (len(items) == 0 || items[0].PlanID != planID):
		return none, domain.InvalidCursor()
	}
	return domain.NewPage(items, size, func(last RevisionInfo) string {
		return domain.EncodeCursor(revisionsCursor, last.PlanID, strconv.FormatInt(last.Version, 10))
	}), nil
}

func parseRevisionsCursor(cursor string) (planID string, before int64, err error) {
	if cursor == "" {
		return "", math.MaxInt64, nil
	}
	parts, err := domain.DecodeCursor(revisionsCursor, cursor)
	if err != nil {
		return "", 0, err
	}
	if len(parts) != 2 {
		return "", 0, domain.InvalidCursor()
	}
	if before, err = strconv.ParseInt(parts[1], 10, 64); err != nil {
		return "", 0, domain.InvalidCursor()
	}
	return parts[0], before, nil
}

// Revision returns a revision of a task's current plan. It returns [ErrNotFound]
// or [ErrRevisionNotFound].
func (s *Service) Revision(ctx context.Context, taskID string, version int64) (Revision, error) {
	r, err := s.store.PlanRevision(ctx, taskID, version)
	if err != nil {
		return Revision{}, fmt.Errorf("get revision %d of the plan of task %s: %w", version, taskID, err)
	}
	return r, nil
}
