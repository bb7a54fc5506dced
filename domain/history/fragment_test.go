package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// HI-32: a fragment that ends in the middle of a line shows no missing line end,
// unless that is what was edited; each fragment has hunks of its own.
func TestFragmentPatch(t *testing.T) {
	for _, c := range []struct {
		fragments      []Fragment
		want           string
		added, deleted int64
	}{
		{[]Fragment{{"a", "a\nb"}}, "@@ -1 +1,2 @@\n a\n+b\n", 1, 0},
		{[]Fragment{{"a\n", ""}}, "@@ -1 +0,0 @@\n-a\n", 0, 1},
		{[]Fragment{{"a\n", "a"}}, "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", 1, 1},
		{[]Fragment{{"--- a", "+++ b"}}, "@@ -1 +1 @@\n---- a\n++++ b\n", 1, 1},
		{[]Fragment{{"a", "b"}, {"c", "d"}}, "@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-c\n+d\n", 2, 2},
		{[]Fragment{{"a", "a"}}, "", 0, 0},
	} {
		got, added, deleted := FragmentPatch("f", c.fragments)
		if diff := cmp.Diff("--- f\n+++ f\n"+c.want, got); diff != "" {
			t.Errorf("patch of %q (-want +got):\n%s", c.fragments, diff)
		}
		if added != c.added || deleted != c.deleted {
			t.Errorf("patch of %q: +%d -%d, want +%d -%d", c.fragments, added, deleted, c.added, c.deleted)
		}
		read := Record(ReportedChange{Path: "f", ChangeType: Modified, Patch: &got}, "")
		if c.want != "" && (*read.LinesAdded != added || *read.LinesDeleted != deleted) {
			t.Errorf("patch of %q counts +%d -%d, want +%d -%d", c.fragments, *read.LinesAdded, *read.LinesDeleted, added, deleted)
		}
	}
}
