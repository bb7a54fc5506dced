package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

// HI-7: the mode and the counts of what is recorded.
func TestRecord(t *testing.T) {
	const patch = "--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n"
	tests := map[string]struct {
		report ReportedChange
		want   FileChange // path and type are filled in
	}{
		"a new file of two lines adds 2": {
			ReportedChange{ChangeType: Created, AfterContent: new("a\nb\n")},
			FileChange{DiffMode: Snapshot, BeforeContent: new(""), AfterContent: new("a\nb\n"), LinesAdded: new(int64(2)), LinesDeleted: new(int64(0))},
		},
		"one edited line of a CRLF file counts 1": {
			ReportedChange{ChangeType: Modified, BeforeContent: new("a\r\nb\r\nc\r\n"), AfterContent: new("a\r\nB\r\nc\r\n")},
			FileChange{DiffMode: Snapshot, BeforeContent: new("a\r\nb\r\nc\r\n"), AfterContent: new("a\r\nB\r\nc\r\n"), LinesAdded: new(int64(1)), LinesDeleted: new(int64(1))},
		},
		"a deleted file has no text after": {
			ReportedChange{ChangeType: Deleted, BeforeContent: new("a\nb")},
			FileChange{DiffMode: Snapshot, BeforeContent: new("a\nb"), AfterContent: new(""), LinesAdded: new(int64(0)), LinesDeleted: new(int64(2))},
		},
		"texts win over patch and reported counts": {
			ReportedChange{ChangeType: Modified, BeforeContent: new("a"), AfterContent: new("a\n"), Patch: new(patch), LinesAdded: new(int64(9)), LinesDeleted: new(int64(9))},
			FileChange{DiffMode: Snapshot, BeforeContent: new("a"), AfterContent: new("a\n"), LinesAdded: new(int64(1)), LinesDeleted: new(int64(1))},
		},
		"a patch is counted": {
			ReportedChange{ChangeType: Modified, Patch: new(patch), LinesAdded: new(int64(9)), LinesDeleted: new(int64(9))},
			FileChange{DiffMode: Patch, Patch: new(patch), LinesAdded: new(int64(2)), LinesDeleted: new(int64(1))},
		},
		"a patch without hunks is believed": {
			ReportedChange{ChangeType: Modified, Patch: new("@@ one"), LinesAdded: new(int64(9))},
			FileChange{DiffMode: Patch, Patch: new("@@ one"), LinesAdded: new(int64(9))},
		},
		"an overwrite of something unread shows its lines": {
			ReportedChange{ChangeType: Modified, AfterContent: new("a\nb"), LinesDeleted: new(int64(7))},
			FileChange{
				DiffMode: Patch, Patch: new("--- f\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"),
				LinesAdded: new(int64(2)), LinesDeleted: new(int64(7)),
			},
		},
		"nothing but the fact": {
			ReportedChange{ChangeType: Modified, Patch: new(""), LinesAdded: new(int64(3))},
			FileChange{DiffMode: Unsupported, DiffUnavailableReason: new(ReasonNotReported), LinesAdded: new(int64(3))},
		},
		"U+0000 in the text before": {
			ReportedChange{ChangeType: Modified, BeforeContent: new("\x00"), AfterContent: new("a"), LinesAdded: new(int64(3))},
			FileChange{DiffMode: Unsupported, DiffUnavailableReason: new(ReasonBinary)},
		},
		"other line ends are other lines": {
			ReportedChange{ChangeType: Modified, BeforeContent: new("a\r\nb\r\n"), AfterContent: new("a\nb\r\n")},
			FileChange{DiffMode: Snapshot, BeforeContent: new("a\r\nb\r\n"), AfterContent: new("a\nb\r\n"), LinesAdded: new(int64(1)), LinesDeleted: new(int64(1))},
		},
		"a file without lines": {
			ReportedChange{ChangeType: Created, AfterContent: new("")},
			FileChange{DiffMode: Snapshot, BeforeContent: new(""), AfterContent: new(""), LinesAdded: new(int64(0)), LinesDeleted: new(int64(0))},
		},
		"U+0000 as the 8,191st character": {
			ReportedChange{ChangeType: Deleted, BeforeContent: new(strings.Repeat("x", 8190) + "\x00"), LinesDeleted: new(int64(3))},
			FileChange{DiffMode: Unsupported, DiffUnavailableReason: new(ReasonBinary)},
		},
		"U+0000 as the 8,192nd character": {
			ReportedChange{ChangeType: Created, AfterContent: new(strings.Repeat("é", 8191) + "\x00")},
			FileChange{DiffMode: Unsupported, DiffUnavailableReason: new(ReasonBinary)},
		},
		"U+0000 behind the 8,192nd character": {
			ReportedChange{ChangeType: Created, AfterContent: new(strings.Repeat("é", 8192) + "\x00")},
			FileChange{DiffMode: Unsupported, DiffUnavailableReason: new(ReasonNUL)},
		},
		"U+0000 in a patch": {
			ReportedChange{ChangeType: Modified, Patch: new(patch + "\x00")},
			FileChange{DiffMode: Unsupported, DiffUnavailableReason: new(ReasonBinary)},
		},
		"no UTF-8": {
			ReportedChange{ChangeType: Created, AfterContent: new("a\xff")},
			FileChange{DiffMode: Unsupported, DiffUnavailableReason: new(ReasonBinary)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.report.Path, test.want.Path, test.want.PathKey = "f", "f", "f"
			test.want.ChangeType, test.want.TextBytes = test.report.ChangeType, test.want.textBytes()
			if diff := cmp.Diff(test.want, Record(test.report, "/w")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// HI-8: both paths of a rename are kept as reported, beside their keys.
func TestRecordPaths(t *testing.T) {
	got := Record(ReportedChange{Path: "/w/./b", OldPath: new("a/"), ChangeType: Renamed, ToolCallID: new("call_0")}, "/w")
	want := FileChange{
		Path: "/w/./b", PathKey: "b", OldPath: new("a/"), OldPathKey: new("a"), ChangeType: Renamed,
		DiffMode: Unsupported, DiffUnavailableReason: new(ReasonNotReported), ToolCallID: new("call_0"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// HI-7: a side of 512 KiB is a snapshot, one byte more makes a patch.
func TestRecordLargeTexts(t *testing.T) {
	line := strings.Repeat("x", 63) + "\n"
	full := strings.Repeat(line, domain.MaxSnapshotSide/len(line))

	c := Record(ReportedChange{Path: "f", ChangeType: Modified, BeforeContent: new(full), AfterContent: new("y" + full[1:])}, "")
	if c.DiffMode != Snapshot || *c.LinesAdded != 1 || *c.LinesDeleted != 1 {
		t.Errorf("512 KiB: %s +%d -%d", c.DiffMode, *c.LinesAdded, *c.LinesDeleted)
	}

	c = Record(ReportedChange{Path: "new", OldPath: new("old"), ChangeType: Renamed, BeforeContent: new(full), AfterContent: new(full + "y")}, "")
	want := "--- old\n+++ new\n@@ -8190,3 +8190,4 @@\n" + strings.Repeat(" "+line, 3) + "+y\n\\ No newline at end of file\n"
	if c.DiffMode != Patch || c.BeforeContent != nil || c.AfterContent != nil || c.PatchTruncated {
		t.Errorf("over 512 KiB: %s, texts kept %t, truncated %t", c.DiffMode, c.BeforeContent != nil, c.PatchTruncated)
	}
	if diff := cmp.Diff(want, *c.Patch); diff != "" {
		t.Error(diff)
	}
}

// HI-7: either side over 512 KiB makes a patch, and no other size does.
func TestRecordSnapshotBorder(t *testing.T) {
	text := func(bytes int) *string { return new(strings.Repeat("x", bytes-1) + "\n") }
	const most = domain.MaxSnapshotSide
	for _, test := range []struct {
		before, after int
		want          DiffMode
	}{
		{most - 1, most, Snapshot},
		{most, most - 1, Snapshot},
		{most, most, Snapshot},
		{most + 1, most, Patch},
		{most, most + 1, Patch},
		{2, most + 1, Patch},
		{most + 1, 2, Patch},
	} {
		c := Record(ReportedChange{Path: "f", ChangeType: Modified, BeforeContent: text(test.before), AfterContent: text(test.after)}, "")
		if c.DiffMode != test.want || (c.Patch == nil) != (test.want == Snapshot) || (c.BeforeContent == nil) != (test.want == Patch) {
			t.Errorf("%d and %d bytes: %s", test.before, test.after, c.DiffMode)
		}
		if changed := test.before != test.after; (*c.LinesAdded == 1) != changed || (*c.LinesDeleted == 1) != changed {
			t.Errorf("%d and %d bytes: +%d -%d", test.before, test.after, *c.LinesAdded, *c.LinesDeleted)
		}
	}
}

// HI-7: a patch of 256 KiB is whole, and one byte more cuts its last line off.
func TestRecordPatchBorder(t *testing.T) {
	const head = "@@ -1 +1,2 @@\n-a\n+b\n+"
	fits := head + strings.Repeat("x", domain.MaxPatch-len(head)-1) + "\n"
	for patch, want := range map[string]string{fits: fits, fits[:len(fits)-1] + "x\n": strings.TrimSuffix(head, "+")} {
		c := Record(ReportedChange{Path: "f", ChangeType: Modified, Patch: &patch}, "")
		if *c.Patch != want || c.PatchTruncated != (want != patch) || *c.LinesAdded != 2 || *c.LinesDeleted != 1 {
			t.Errorf("%d bytes: %d are kept, truncated %t, +%d -%d", len(patch), len(*c.Patch), c.PatchTruncated, *c.LinesAdded, *c.LinesDeleted)
		}
	}
}

// HI-7: the same holds for a patch that is made here.
func TestRecordMadePatchBorder(t *testing.T) {
	const frame = "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+\n+z\n"
	for over := range 2 {
		after := strings.Repeat("y", domain.MaxPatch-len(frame)+over) + "\nz\n"
		c := Record(ReportedChange{Path: "f", ChangeType: Modified, AfterContent: &after}, "")
		if c.PatchTruncated != (over > 0) || over == 0 && len(*c.Patch) != domain.MaxPatch || *c.LinesAdded != 2 {
			t.Errorf("%d over: %d bytes, truncated %t, +%d", over, len(*c.Patch), c.PatchTruncated, *c.LinesAdded)
		}
	}
}

// HI-7: a patch is cut between lines, and counts what is cut off.
func TestRecordCutsPatches(t *testing.T) {
	const n = 20_000
	after := strings.Repeat(strings.Repeat("é", 20)+"\n", n)
	patch := fmt.Sprintf("@@ -0,0 +1,%d @@\n", n) + strings.ReplaceAll(after, "é\n", "é\n+")
	for name, report := range map[string]ReportedChange{
		"texts": {Path: "f\n+x", ChangeType: Created, AfterContent: &after},
		"patch": {Path: "f", ChangeType: Created, Patch: &patch},
	} {
		t.Run(name, func(t *testing.T) {
			c := Record(report, "")
			if c.DiffMode != Patch || !c.PatchTruncated {
				t.Fatalf("%s, truncated %t", c.DiffMode, c.PatchTruncated)
			}
			if p := *c.Patch; len(p) > domain.MaxPatch || len(p) < domain.MaxPatch-100 || !strings.HasSuffix(p, "é\n") {
				t.Errorf("%d bytes, the end is %q", len(p), p[len(p)-10:])
			}
			if name == "texts" && (*c.LinesAdded != n || *c.LinesDeleted != 0) {
				t.Errorf("+%d -%d", *c.LinesAdded, *c.LinesDeleted)
			}
		})
	}
}

func TestCutPatch(t *testing.T) {
	fits := strings.Repeat("x", domain.MaxPatch)
	if got, cut := cutPatch(fits); got != fits || cut {
		t.Errorf("a text of the limit: %d bytes, cut %t", len(got), cut)
	}
	if got, cut := cutPatch(fits + "\n"); got != "" || !cut {
		t.Errorf("one long line: %d bytes, cut %t", len(got), cut)
	}
	if got, cut := cutPatch(fits[1:] + "\nx"); got != fits[1:]+"\n" || !cut {
		t.Errorf("a line that ends at the limit: %d bytes, cut %t", len(got), cut)
	}
}

// Hunks as patch tools write them.
func TestHunks(t *testing.T) {
	tests := map[string]struct{ before, after, want string }{
		"equal":         {"a\n", "a\n", ""},
		"from nothing":  {"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		"to nothing":    {"a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
		"final newline": {"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		"context": {
			"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nV\n6\n7\n8\n9\n",
			"@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n 7\n 8\n",
		},
		"close edits share a hunk": {
			"1\n2\n3\n4\n5\n6\n7\n8\n", "I\n2\n3\n4\n5\n6\n7\nX\n",
			"@@ -1,8 +1,8 @@\n-1\n+I\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+X\n",
		},
		"distant edits do not": {
			"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "2\n3\n4\n5\n6\n7\n8\n9\nX\n",
			"@@ -1,4 +1,3 @@\n-1\n 2\n 3\n 4\n@@ -7,3 +6,4 @@\n 7\n 8\n 9\n+X\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, diffTexts(test.before, test.after).hunks(domain.MaxPatch)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
