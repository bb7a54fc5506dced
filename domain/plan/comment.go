package plan

import (
	"cmp"
	"strings"
	"time"

	"gatehouse/domain"
)

// Comment is a pending comment: feedback on the current plan of a task that was
// not sent to an agent yet. It knows no session (PC-6).
type Comment struct {
	TaskID       string `bun:",pk"`
	ID           string `bun:",pk"` // the caller's, unique within the task
	PlanID       string
	Body         string // 1 to 65,536 bytes, not blank; all that an edit changes
	SelectedText string // 1 to 262,144 bytes: the marked text of the plan
	AnchorFrom   int64  // editor positions at creation, 0 <= from < to
	AnchorTo     int64
	Version      int64 // from 1, +1 per edit
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Ref names a comment as its sender saw it.
type Ref struct {
	ID      string `json:"id"`      // canonical
	Version int64  `json:"version"` // from 1
}

// Ref names c as it is.
func (c Comment) Ref() Ref { return Ref{c.ID, c.Version} }

// size is what c adds to the total of its plan, in bytes (PC-2).
func (c Comment) size() int64 { return int64(len(c.Body) + len(c.SelectedText)) }

// edited is the version of c that holds body (PC-4).
func (c Comment) edited(body string, now time.Time) Comment {
	c.Body = body
	c.Version++
	c.UpdatedAt = now
	return c
}

// compare orders comments canonically: by time of creation, then id.
func compare(a, b Comment) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
}

// CheckRefs returns refs with canonical ids. What is wrong with their form goes
// to p, below field: an id that is none, a version below 1, an id that comes
// twice, more than 100 of them.
func CheckRefs(p *domain.Problems, field string, refs []Ref) []Ref {
	if len(refs) > domain.MaxRefs {
		p.Add(field, domain.ProblemTooMany, "must be at most %d references", domain.MaxRefs)
		return nil
	}
	seen := make(map[string]bool, len(refs))
	checked := make([]Ref, len(refs))
	for i, r := range refs {
		at := pointer(field, i)
		id, ok := domain.ParseID(r.ID)
		switch {
		case !ok:
			p.Add(at+"/id", domain.ProblemFormat, "must be a UUID")
		case seen[id]:
			p.Add(at+"/id", domain.ProblemDuplicate, "must not be named twice")
		}
		checkVersion(p, at+"/version", r.Version)
		seen[id] = true
		checked[i] = Ref{id, r.Version}
	}
	return checked
}
