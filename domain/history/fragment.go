package history

import (
	"math"
	"strings"
)

// Fragment is a piece of a file before and after an edit, of which nobody says
// where in the file it stands.
type Fragment struct{ Before, After string }

// FragmentPatch returns the unified diff of fragments of the file at path, and how
// many lines it adds and deletes (HI-32). Its line numbers count within a fragment.
func FragmentPatch(path string, fragments []Fragment) (patch string, added, deleted int64) {
	c := FileChange{Path: path, ChangeType: Modified}
	var text strings.Builder
	text.WriteString(c.patchHeader())
	for _, f := range fragments {
		before, after := wholeLines(f.Before), wholeLines(f.After)
		if before == after {
			before, after = f.Before, f.After
		}
		diff := diffTexts(before, after)
		a, d := diff.counts()
		added, deleted = added+a, deleted+d
		text.WriteString(diff.hunks(math.MaxInt))
	}
	return text.String(), added, deleted
}

// wholeLines ends the last line of a fragment, which is seldom the last of its file.
func wholeLines(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
