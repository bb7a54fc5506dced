package claudecode

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// fragment is a piece of a file before and after an edit, of which nobody says
// where in the file it stands.
type fragment struct{ before, after string }

// patch is the unified diff of fragments, with the lines it adds and deletes. Its
// line numbers count within the fragment.
func patch(path string, fragments []fragment) (text string, added, deleted int64) {
	var hunks strings.Builder
	for _, f := range fragments {
		before, after := wholeLines(f.before), wholeLines(f.after)
		if before == after {
			before, after = f.before, f.after
		}
		_, body := cutHeader(udiff.Unified(path, path, before, after))
		a, d := countLines(body)
		added, deleted = added+a, deleted+d
		hunks.WriteString(body)
	}
	return header(path) + hunks.String(), added, deleted
}

func header(path string) string { return "--- " + path + "\n+++ " + path + "\n" }

// wholeLines ends the last line of a fragment, which is seldom the last of its file.
func wholeLines(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// cutHeader parts a unified diff before its first hunk.
func cutHeader(diff string) (head, hunks string) {
	at := strings.Index(diff, "@@ ")
	if at < 0 {
		return diff, ""
	}
	return diff[:at], diff[at:]
}

// countLines counts what hunks add and delete. In them every line has its mark.
func countLines(hunks string) (added, deleted int64) {
	for l := range strings.Lines(hunks) {
		switch l[0] {
		case '+':
			added++
		case '-':
			deleted++
		}
	}
	return added, deleted
}
