package history

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

// mergeCase is one case of testdata/cases/file-change-merge.json, where a path is
// its own key.
type mergeCase struct {
	Name    string          `json:"name"`
	Changes []caseChange    `json:"changes"`
	Merged  []mergedOfCases `json:"merged"`
}

type caseChange struct {
	PathKey         string     `json:"path_key"`
	OldPath         *string    `json:"old_path"`
	ChangeType      ChangeType `json:"change_type"`
	DiffMode        DiffMode   `json:"diff_mode"`
	BeforeContent   *string    `json:"before_content"`
	AfterContent    *string    `json:"after_content"`
	Patch           *string    `json:"patch"`
	PatchTruncated  bool       `json:"patch_truncated"`
	Reason          *string    `json:"diff_unavailable_reason"`
	LinesAdded      *int64     `json:"lines_added"`
	LinesDeleted    *int64     `json:"lines_deleted"`
	SourceType      SourceType `json:"source_type"`
	SourceSessionID string     `json:"source_session_id"`
}

type mergedOfCases struct {
	PathKey              string     `json:"path_key"`
	OldPath              *string    `json:"old_path"`
	ChangeType           ChangeType `json:"change_type"`
	Deleted              bool       `json:"deleted"`
	DiffMode             DiffMode   `json:"diff_mode"`
	BeforeContent        *string    `json:"before_content"`
	AfterContent         *string    `json:"after_content"`
	Patch                *string    `json:"patch"`
	PatchContains        []string   `json:"patch_contains_in_order"`
	PatchTruncated       bool       `json:"patch_truncated"`
	PartiallyUnsupported bool       `json:"partially_unsupported"`
	Reason               *string    `json:"diff_unavailable_reason"`
	LinesAdded           *int64     `json:"lines_added"`
	LinesDeleted         *int64     `json:"lines_deleted"`
	Sources              []struct {
		Type      SourceType `json:"type"`
		SessionID string     `json:"session_id"`
	} `json:"sources"`
}

func (c caseChange) sourced() SourcedChange {
	s := SourcedChange{
		FileChange: FileChange{
			Path: c.PathKey, PathKey: c.PathKey, OldPath: c.OldPath, OldPathKey: c.OldPath,
			ChangeType: c.ChangeType, DiffMode: c.DiffMode,
			BeforeContent: c.BeforeContent, AfterContent: c.AfterContent,
			Patch: c.Patch, PatchTruncated: c.PatchTruncated, DiffUnavailableReason: c.Reason,
			LinesAdded: c.LinesAdded, LinesDeleted: c.LinesDeleted,
		},
		SourceType: c.SourceType, SourceSessionID: c.SourceSessionID,
	}
	if s.SourceType == "" {
		s.SourceType, s.SourceSessionID = SourceMain, "main"
	}
	return s
}

func (m mergedOfCases) entry() MergedChange {
	e := MergedChange{
		PathKey: m.PathKey, Path: m.PathKey, OldPath: m.OldPath, ChangeType: m.ChangeType, Deleted: m.Deleted,
		DiffMode: m.DiffMode, BeforeContent: m.BeforeContent, AfterContent: m.AfterContent,
		Patch: m.Patch, PatchTruncated: m.PatchTruncated, PartiallyUnsupported: m.PartiallyUnsupported,
		DiffUnavailableReason: m.Reason, LinesAdded: m.LinesAdded, LinesDeleted: m.LinesDeleted,
	}
	for _, s := range m.Sources {
		e.Sources = append(e.Sources, Source{s.Type, s.SessionID})
	}
	return e
}

// The exact vectors of the merge by path.
func TestMergeCases(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/cases/file-change-merge.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []mergeCase `json:"cases"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			changes := make([]SourcedChange, len(c.Changes))
			for i, change := range c.Changes {
				changes[i] = change.sourced()
			}
			got := Merge(changes)
			want := make([]MergedChange, len(c.Merged))
			for i, m := range c.Merged {
				want[i] = m.entry()
				if m.PatchContains != nil && i < len(got) {
					wantInOrder(t, *got[i].Patch, m.PatchContains)
					want[i].Patch = got[i].Patch
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func wantInOrder(t *testing.T, text string, parts []string) {
	t.Helper()
	for _, part := range parts {
		_, rest, found := strings.Cut(text, part)
		if !found {
			t.Fatalf("%q is missing or out of order", part)
		}
		text = rest
	}
}

func modified(key string) SourcedChange {
	return SourcedChange{
		FileChange: FileChange{Path: key, PathKey: key, ChangeType: Modified, DiffMode: Patch, Patch: new("@@ " + key)},
		SourceType: SourceMain, SourceSessionID: "main",
	}
}

func renamed(from, to string) SourcedChange {
	c := modified(to)
	c.ChangeType, c.OldPath, c.OldPathKey = Renamed, new("./"+from), new(from)
	return c
}

func deleted(key string) SourcedChange {
	c := modified(key)
	c.ChangeType = Deleted
	return c
}

// Rule 3, where entries move and meet.
func TestMergeRenames(t *testing.T) {
	tests := map[string]struct {
		changes []SourcedChange
		want    []string // key, type, old path
	}{
		"of a file not seen before": {
			[]SourcedChange{renamed("a", "b")},
			[]string{"b RENAMED ./a"},
		},
		"onto an entry, of a file not seen before": {
			[]SourcedChange{modified("b"), modified("c"), renamed("a", "b")},
			[]string{"b RENAMED ./a", "c MODIFIED"},
		},
		"onto an entry: at the place of the old path": {
			[]SourcedChange{modified("b"), modified("c"), modified("a"), renamed("a", "b")},
			[]string{"c MODIFIED", "b RENAMED ./a"},
		},
		"a later change of the old path": {
			[]SourcedChange{modified("a"), renamed("a", "b"), modified("a")},
			[]string{"b RENAMED ./a", "a MODIFIED"},
		},
		"two files change places": {
			[]SourcedChange{modified("a"), modified("b"), renamed("a", "t"), renamed("b", "a"), renamed("t", "b")},
			[]string{"b RENAMED ./a", "a RENAMED ./b"},
		},
		"there, back and on": {
			[]SourcedChange{renamed("a", "b"), renamed("b", "a"), renamed("a", "c")},
			[]string{"c RENAMED ./a"},
		},
		"the earliest old path of entries that meet": {
			[]SourcedChange{renamed("q", "b"), modified("a"), renamed("a", "b")},
			[]string{"b RENAMED ./q"},
		},
		"onto itself": {
			[]SourcedChange{modified("a"), renamed("a", "a")},
			[]string{"a RENAMED"},
		},
		"without an old path": {
			[]SourcedChange{modified("a"), func() SourcedChange { c := renamed("", "a"); c.OldPathKey = nil; return c }()},
			[]string{"a RENAMED"},
		},
		"modified behind a rename and a deletion": {
			[]SourcedChange{renamed("a", "b"), deleted("b"), modified("b")},
			[]string{"b MODIFIED ./a"},
		},
		"deleted behind a rename": {
			[]SourcedChange{renamed("a", "b"), modified("b"), deleted("b")},
			[]string{"b DELETED ./a deleted"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, m := range Merge(test.changes) {
				line := m.PathKey + " " + string(m.ChangeType)
				if m.OldPath != nil {
					line += " " + *m.OldPath
				}
				if m.Deleted {
					line += " deleted"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Rule 5: the hunks of snapshots and the texts of patches, one behind the other.
func TestMergeJoinsHunks(t *testing.T) {
	text := func(before, after string) SourcedChange {
		c := modified("x")
		c.DiffMode, c.Patch, c.BeforeContent, c.AfterContent = Snapshot, nil, &before, &after
		return c
	}
	got := Merge([]SourcedChange{text("a\n", "b\n"), text("b\n", "b\n"), modified("x"), text("c", "")})[0]
	want := "@@ -1 +1 @@\n-a\n+b\n@@ x\n@@ -1 +0,0 @@\n-c\n\\ No newline at end of file"
	if got.DiffMode != Patch || got.BeforeContent != nil || got.AfterContent != nil {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(want, *got.Patch); diff != "" {
		t.Error(diff)
	}
}

// Rule 5: the joined text is capped as one patch is (HI-7).
func TestMergeCapsJoinedPatch(t *testing.T) {
	long := modified("x")
	long.Patch = new("@@ long\n" + strings.Repeat("+yyy\n", domain.MaxPatch/10))
	got := Merge(slices.Repeat([]SourcedChange{long}, 3))[0]
	if !got.PatchTruncated || len(*got.Patch) > domain.MaxPatch || !strings.HasSuffix(*got.Patch, "+yyy\n") {
		t.Errorf("truncated %t, %d bytes", got.PatchTruncated, len(*got.Patch))
	}
}

// HI-24: what was left out of one change is not made up for by the others.
func TestMergeOfOmittedTexts(t *testing.T) {
	omitted := modified("x")
	omitted.Patch, omitted.DiffOmitted = nil, true
	got := Merge([]SourcedChange{modified("x"), omitted})[0]
	if !got.DiffOmitted || got.DiffMode != Patch || got.Patch != nil {
		t.Errorf("%+v", got)
	}
}

// Rule 1 with counts that no file has.
func TestMergeLineSumsStop(t *testing.T) {
	c := modified("x")
	c.LinesAdded = new(int64(math.MaxInt64 - 1))
	got := Merge([]SourcedChange{c, c})[0]
	if *got.LinesAdded != math.MaxInt64 || got.LinesDeleted != nil {
		t.Errorf("+%d, deleted %v", *got.LinesAdded, got.LinesDeleted)
	}
	if *c.LinesAdded != math.MaxInt64-1 {
		t.Error("the change was changed")
	}
}
