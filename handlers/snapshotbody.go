package handlers

import (
	"gatehouse/domain/plan"
	"gatehouse/gen"
)

func snapshotBody(s plan.Snapshot) gen.CommentsSnapshot {
	return gen.CommentsSnapshot{TaskID: s.TaskID, PlanID: s.PlanID, Revision: s.Revision, Comments: each(s.Comments, commentBody)}
}

func commentBody(c plan.Comment) gen.Comment {
	return gen.Comment{
		ID: c.ID, PlanID: c.PlanID, Body: c.Body, SelectedText: c.SelectedText, AnchorFrom: c.AnchorFrom,
		AnchorTo: c.AnchorTo, Version: c.Version, CreatedAt: at(c.CreatedAt), UpdatedAt: at(c.UpdatedAt),
	}
}

// commentsChangedMembers is what plan_comments_changed says of the comments: null
// when the task has no plan.
func commentsChangedMembers(e *plan.CommentsChangedError) map[string]any {
	if e.Snapshot.PlanID == "" {
		return map[string]any{"snapshot": nil}
	}
	return map[string]any{"snapshot": snapshotBody(e.Snapshot)}
}
