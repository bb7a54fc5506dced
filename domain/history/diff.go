package history

import (
	"strings"
	"unicode/utf8"

	"gatehouse/domain"
)

// Record makes of a reported change what is stored (HI-7, HI-8): a snapshot where
// both texts fit, else a patch, else the bare fact. workspace is that of the
// task's root session and may be empty. The caller adds what places the change:
// ids, seq, ordinal and time.
//
// It takes any r; one that [ReportedChange.Validate] refuses keeps what can be kept.
func Record(r ReportedChange, workspace string) FileChange {
	c := FileChange{
		Path: r.Path, ChangeType: r.ChangeType, ToolCallID: r.ToolCallID,
	}
	c.OldPath = r.OldPath
	c.rekey(workspace)
	before, after := r.sides()
	switch {
	case before != nil && after != nil:
		c.keepTexts(*before, *after)
	case r.Patch != nil && *r.Patch != "":
		c.keepPatch(*r.Patch, r.LinesAdded, r.LinesDeleted)
	case after != nil && r.ChangeType == Modified:
		c.keepOverwrite(*after, r.LinesDeleted)
	default:
		c.keepNothing(ReasonNotReported)
		c.LinesAdded, c.LinesDeleted = r.LinesAdded, r.LinesDeleted
	}
	c.TextBytes = c.textBytes()
	return c
}

// keepTexts keeps a change of which both texts are known.
func (c *FileChange) keepTexts(before, after string) {
	if reason := unreadable(before, after); reason != "" {
		c.keepNothing(reason)
		return
	}
	diff := diffTexts(before, after)
	c.setLines(diff.counts())
	if len(before) <= domain.MaxSnapshotSide && len(after) <= domain.MaxSnapshotSide {
		c.DiffMode, c.BeforeContent, c.AfterContent = Snapshot, &before, &after
		return
	}
	c.setPatch(c.patchHeader() + diff.hunks(domain.MaxPatch))
}

// keepPatch keeps a change that came as a patch. The counts are those of all its
// hunks, also of the ones that are cut off; those reported only when it has none.
func (c *FileChange) keepPatch(patch string, added, deleted *int64) {
	if reason := unreadable(patch); reason != "" {
		c.keepNothing(reason)
		return
	}
	c.LinesAdded, c.LinesDeleted = added, deleted
	if plus, minus, ok := CountPatch(patch); ok {
		c.setLines(plus, minus)
	}
	c.setPatch(patch)
}

// keepOverwrite keeps a change of which only the new text is known: its lines as
// added ones, and what they replaced as reported.
func (c *FileChange) keepOverwrite(after string, deleted *int64) {
	if reason := unreadable(after); reason != "" {
		c.keepNothing(reason)
		return
	}
	diff := diffTexts("", after)
	added, _ := diff.counts()
	c.LinesAdded, c.LinesDeleted = &added, deleted
	c.setPatch(c.patchHeader() + diff.hunks(domain.MaxPatch))
}

func (c *FileChange) keepNothing(reason string) {
	c.DiffMode, c.DiffUnavailableReason = Unsupported, &reason
}

func (c *FileChange) setLines(added, deleted int64) {
	c.LinesAdded, c.LinesDeleted = &added, &deleted
}

func (c *FileChange) setPatch(text string) {
	text, cut := cutPatch(text)
	c.DiffMode, c.Patch, c.PatchTruncated = Patch, &text, cut
}

// patchHeader is the file header of a patch that is made here.
func (c *FileChange) patchHeader() string {
	from, to := c.Path, c.Path
	switch {
	case c.ChangeType == Created:
		from = "/dev/null"
	case c.ChangeType == Deleted:
		to = "/dev/null"
	case c.OldPath != nil:
		from = *c.OldPath
	}
	return "--- " + headerPath(from) + "\n+++ " + headerPath(to) + "\n"
}

// headerPath keeps a path on its line of the header.
func headerPath(path string) string {
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(path)
}

// unreadable says why texts cannot be shown, or nothing. U+0000 counts near the
// start because it tells binary data, and anywhere else because PostgreSQL cannot
// store it.
func unreadable(texts ...string) string {
	reason := ""
	for _, text := range texts {
		switch {
		case hasEarlyNUL(text) || !utf8.ValidString(text):
			return ReasonBinary
		case domain.HasNUL(text):
			reason = ReasonNUL
		}
	}
	return reason
}

// hasEarlyNUL looks at the first [domain.BinaryProbe] characters of text.
func hasEarlyNUL(text string) bool {
	at := strings.IndexByte(text, 0)
	return at >= 0 && utf8.RuneCountInString(text[:at]) < domain.BinaryProbe
}

// cutPatch returns text, or as many whole lines of it as a patch may have, and
// whether something is missing.
func cutPatch(text string) (string, bool) {
	if len(text) <= domain.MaxPatch {
		return text, false
	}
	return text[:strings.LastIndexByte(text[:domain.MaxPatch], '\n')+1], true
}

// rekey names the files of c relative to workspace (HI-8).
func (c *FileChange) rekey(workspace string) {
	c.PathKey = PathKey(workspace, c.Path)
	if c.OldPath != nil {
		c.OldPathKey = new(PathKey(workspace, *c.OldPath))
	}
}

// textBytes is how many bytes the texts of c have together.
func (c *FileChange) textBytes() int64 {
	return int64(len(value(c.BeforeContent)) + len(value(c.AfterContent)) + len(value(c.Patch)))
}
