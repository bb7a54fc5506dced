package history

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawnOf is a drawn change of one mode and one source, that moves no file.
func drawnOf(mode DiffMode) *rapid.Generator[SourcedChange] {
	ofMode := rapid.Custom(drawnChange).Filter(func(c SourcedChange) bool { return c.DiffMode == mode })
	return rapid.Map(ofMode, func(c SourcedChange) SourcedChange {
		c.SourceType, c.SourceSessionID, c.OldPath, c.OldPathKey = SourceMain, "main", nil, nil
		if c.ChangeType == Renamed { // a later type would hide that an earlier part was renamed
			c.ChangeType = Modified
		}
		return c
	})
}

// again is the entries of a merge as changes.
func again(merged []MergedChange) []SourcedChange {
	changes := make([]SourcedChange, len(merged))
	for i, m := range merged {
		changes[i] = SourcedChange{
			FileChange: FileChange{
				Path: m.Path, PathKey: m.PathKey, ChangeType: m.ChangeType, DiffMode: m.DiffMode,
				BeforeContent: m.BeforeContent, AfterContent: m.AfterContent, Patch: m.Patch, PatchTruncated: m.PatchTruncated,
				DiffUnavailableReason: m.DiffUnavailableReason, LinesAdded: m.LinesAdded, LinesDeleted: m.LinesDeleted,
			},
			SourceType: m.Sources[0].Type, SourceSessionID: m.Sources[0].SessionID,
		}
	}
	return changes
}

// Rules 1, 2 and 4 to 7: changes of one mode may be merged part by part. Where modes
// meet they may not: two snapshots show one difference, and beside a patch two.
func TestMergeInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]DiffMode{Snapshot, Patch, Unsupported}).Draw(t, "mode")
		changes := rapid.SliceOfN(drawnOf(mode), 0, 12).Draw(t, "changes")
		at := rapid.IntRange(0, len(changes)).Draw(t, "at")
		want := Merge(changes)
		got := Merge(slices.Concat(again(Merge(changes[:at])), again(Merge(changes[at:]))))
		for i := range min(len(got), len(want)) {
			got[i].Deleted = want[i].Deleted // the type of an entry may hide its last operation
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The order of files stays while changes are added behind, until one is moved.
func TestMergeGrowsBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(drawnChange), 1, 12).Draw(t, "changes")
		at := rapid.IntRange(0, len(changes)-1).Draw(t, "at")
		if i := slices.IndexFunc(changes[at:], func(c SourcedChange) bool { return c.ChangeType == Renamed }); i >= 0 {
			changes = changes[:at+i]
		}
		keys := func(merged []MergedChange) []string {
			of := []string{}
			for _, m := range merged {
				of = append(of, m.PathKey)
			}
			return of
		}
		before, now := keys(Merge(changes[:at])), keys(Merge(changes))
		if len(now) < len(before) {
			t.Fatalf("%d files are %d", len(before), len(now))
		}
		if diff := cmp.Diff(before, now[:len(before)]); diff != "" {
			t.Fatal(diff)
		}
	})
}

// HI-24: an entry is made of the texts it asks for, and of no others.
func TestMergeNeedsItsTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(drawnChange), 0, 12).Draw(t, "changes")
		bare := slices.Clone(changes)
		asked := map[*SourcedChange]bool{}
		for _, g := range groupByPath(bare) {
			for _, c := range g.texts() {
				asked[c] = true
			}
		}
		for i := range bare {
			if !asked[&bare[i]] {
				bare[i].BeforeContent, bare[i].AfterContent, bare[i].Patch = nil, nil, nil
			}
		}
		if diff := cmp.Diff(Merge(changes), Merge(bare)); diff != "" {
			t.Fatal(diff)
		}
	})
}
