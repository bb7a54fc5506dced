package history

import (
	"slices"

	"gatehouse/domain"
)

// ReportedChange is a file change as a request or a transcript tells it. The
// difference comes as both texts, or as a unified patch, or not at all. When both
// texts are known a patch beside them adds nothing and is not kept.
type ReportedChange struct {
	Path          string  // 1 byte to 4 KiB
	OldPath       *string // needed by RENAMED, refused otherwise
	ChangeType    ChangeType
	BeforeContent *string // may be absent from CREATED, which has none
	AfterContent  *string // may be absent from DELETED, which has none
	Patch         *string // unified; an empty one counts as absent
	LinesAdded    *int64  // ≥ 0; believed only when nothing can be counted (HI-7)
	LinesDeleted  *int64  // ≥ 0; likewise
	ToolCallID    *string // at most 512 bytes
}

// Validate notes in p what is wrong with r; field is the JSON pointer of r, such as
// "/body/file_changes/0". It looks at r alone, so a path may point anywhere.
func (r ReportedChange) Validate(p *domain.Problems, field string) {
	checkPath(p, field+"/path", r.Path)
	if !slices.Contains(ChangeTypes, r.ChangeType) {
		p.Add(field+"/change_type", domain.ProblemEnum, "must be CREATED, MODIFIED, DELETED or RENAMED")
	}
	r.validateOldPath(p, field+"/old_path")
	r.validateTexts(p, field)
	checkCount(p, field+"/lines_added", r.LinesAdded)
	checkCount(p, field+"/lines_deleted", r.LinesDeleted)
	if r.ToolCallID != nil {
		domain.CheckText(p, field+"/tool_call_id", *r.ToolCallID, domain.MaxOpaqueID)
	}
}

func (r ReportedChange) validateOldPath(p *domain.Problems, field string) {
	switch {
	case r.OldPath == nil && r.ChangeType == Renamed:
		p.Add(field, domain.ProblemRequired, "a rename needs the path it began with")
	case r.OldPath == nil:
	case r.ChangeType != Renamed:
		p.Add(field, domain.ProblemConflict, "only a rename has an old path")
	default:
		checkPath(p, field, *r.OldPath)
	}
}

// validateTexts refuses a side that the change type cannot have, and one side
// alone where the other one is part of the story. A MODIFIED with nothing but its
// new text stands: it is an overwrite of something nobody read.
func (r ReportedChange) validateTexts(p *domain.Problems, field string) {
	before, after := r.sides()
	patched := r.Patch != nil && *r.Patch != ""
	switch {
	case r.ChangeType == Created && before != nil && *before != "":
		p.Add(field+"/before_content", domain.ProblemConflict, "a created file has no earlier text")
	case r.ChangeType == Deleted && after != nil && *after != "":
		p.Add(field+"/after_content", domain.ProblemConflict, "a deleted file has no later text")
	case r.ChangeType == Created || r.ChangeType == Deleted || patched:
	case before != nil && after == nil:
		p.Add(field+"/after_content", domain.ProblemRequired, "must stand beside before_content")
	case r.ChangeType == Renamed && before == nil && after != nil:
		p.Add(field+"/before_content", domain.ProblemRequired, "must stand beside after_content")
	}
}

// sides returns the two texts; nil is one that is not known. A created file had
// none before and a deleted one has none after, which need not be said.
func (r ReportedChange) sides() (before, after *string) {
	var none string
	before, after = r.BeforeContent, r.AfterContent
	if before == nil && after != nil && r.ChangeType == Created {
		before = &none
	}
	if after == nil && before != nil && r.ChangeType == Deleted {
		after = &none
	}
	return before, after
}

func checkPath(p *domain.Problems, field, path string) {
	if path == "" {
		p.Add(field, domain.ProblemBlank, "must not be empty")
	}
	domain.CheckText(p, field, path, domain.MaxPath)
}

func checkCount(p *domain.Problems, field string, n *int64) {
	if n != nil && *n < 0 {
		p.Add(field, domain.ProblemRange, "must not be negative")
	}
}
