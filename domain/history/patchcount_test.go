package history

import (
	"strings"
	"testing"
)

// HI-7: a patch is counted inside its hunks only.
func TestCountPatch(t *testing.T) {
	tests := map[string]struct {
		patch          string
		added, deleted int64
		ok             bool
	}{
		"empty":                       {"", 0, 0, false},
		"no hunk":                     {"--- a\n+++ b\n+x\n-y\n", 0, 0, false},
		"headers are not content":     {"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", 1, 1, true},
		"header-like content is":      {"--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n same\n", 1, 1, true},
		"lengths end a hunk":          {"@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -1 +0,0 @@\n-z\n", 1, 2, true},
		"lines behind a hunk":         {"@@ -1 +1 @@\n-x\n+y\n+z\n-z\n", 1, 1, true},
		"no final newline":            {"@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file", 1, 1, true},
		"git headers":                 {"diff --git a/x b/x\nnew file mode 100644\nindex 000..abc\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", 2, 0, true},
		"renamed without hunks":       {"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", 0, 0, false},
		"several files":               {"diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n@@ -1,2 +1 @@ func f() {\n a\n-b\n", 1, 2, true},
		"trimmed context lines":       {"@@ -1,3 +1,3 @@\n\n-a\n+b\n\n", 1, 1, true},
		"CRLF":                        {"@@ -1,3 +1,3 @@\r\n a\r\n-b\r\n+c\r\n\r\n", 1, 1, true},
		"text inside a hunk ends it":  {"@@ -1,9 +1,9 @@\n-a\nwhat\n-b\n", 0, 1, true},
		"a head ends a lying hunk":    {"@@ -1,9 +1,9 @@\n-a\n@@ -20 +20 @@\n-b\n+c\n", 1, 2, true},
		"more added than promised":    {"@@ -1,2 +1 @@\n+a\n+b\n-c\n", 1, 0, true},
		"a head without numbers":      {"@@ one\n-a\n+b\n", 0, 0, false},
		"a head without end":          {"@@ -1 +1\n-a\n+b\n", 0, 0, false},
		"a length beyond all numbers": {"@@ -1,99999999999999999999 +1 @@\n-a\n", 0, 0, false},
		"a negative length":           {"@@ -1,-1 +1 @@\n-a\n", 0, 0, false},
		"a combined diff":             {"@@@ -1,2 -1,2 +1,3 @@@\n++a\n", 0, 0, false},
		"cut off":                     {"@@ -1,9 +1,9 @@\n-a\n+b", 1, 1, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			added, deleted, ok := CountPatch(test.patch)
			if added != test.added || deleted != test.deleted || ok != test.ok {
				t.Errorf("+%d -%d %t, want +%d -%d %t", added, deleted, ok, test.added, test.deleted, test.ok)
			}
		})
	}
}

func FuzzCountPatch(f *testing.F) {
	f.Add("--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n same\n")
	f.Add("@@ -1 +1 @@\r\n-a\r\n\\ No newline\r\n+b")
	f.Fuzz(func(t *testing.T, patch string) {
		added, deleted, ok := CountPatch(patch)
		if n := int64(strings.Count("\n"+patch, "\n+")); added < 0 || added > n {
			t.Errorf("%d added, but %d lines begin with +", added, n)
		}
		if n := int64(strings.Count("\n"+patch, "\n-")); deleted < 0 || deleted > n {
			t.Errorf("%d deleted, but %d lines begin with -", deleted, n)
		}
		if !ok && added+deleted > 0 {
			t.Error("counted without a hunk")
		}
	})
}
