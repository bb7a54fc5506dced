package plan

import (
	"strconv"
	"time"

	"gatehouse/domain"
)

// Plan is the current plan document of a task; a task has at most one.
type Plan struct {
	ID               string `bun:",pk"`
	TaskID           string
	Content          string // Markdown, at most 1 MiB, may be empty
	Version          int64  // from 1, +1 per saved change
	CommentsRevision int64  // from 0, +1 per change of its comments (PC-1)
	CreatedAt        time.Time
	UpdatedAt        time.Time // of the last saved change of the content
}

// Tag names this content among all that any plan of any task ever had (API-6).
// A plan that was deleted and made again has another id, so another tag. It says
// nothing of the comments, which have a tag of their own. Its weak point is a
// database restored from a backup: what is saved from then on may get a tag that
// lost content had.
func (p Plan) Tag() string { return p.ID + ":" + strconv.FormatInt(p.Version, 10) }

// Revision is one content that a plan had. It never holds comments.
type Revision struct {
	PlanID    string `bun:",pk"`
	Version   int64  `bun:",pk"`
	Content   string
	Bytes     int64 // of the content
	CreatedAt time.Time
}

// RevisionInfo is a revision without its content.
type RevisionInfo struct {
	PlanID    string
	Version   int64
	Bytes     int64
	CreatedAt time.Time
}

// newPlan is the first version of a task's plan (PC-8).
func newPlan(taskID, content string, now time.Time) Plan {
	return Plan{
		ID:        domain.NewID(),
		TaskID:    taskID,
		Content:   content,
		Version:   1,
		CreatedAt: now,
		UpdatedAt: now,
	}
}

// next is the version of p that holds content.
func (p Plan) next(content string, now time.Time) Plan {
	p.Content = content
	p.Version++
	p.UpdatedAt = now
	return p
}

// Revision is the current content of p as a revision.
func (p Plan) Revision() Revision {
	return Revision{
		PlanID:    p.ID,
		Version:   p.Version,
		Content:   p.Content,
		Bytes:     int64(len(p.Content)),
		CreatedAt: p.UpdatedAt,
	}
}
