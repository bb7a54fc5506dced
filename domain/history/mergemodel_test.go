package history

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// modelEntry is an entry of the plain model: numbers of changes, nothing else.
type modelEntry struct {
	key string
	ops []int
}

// modelMerge is the merge as the rules tell it, on a plain list.
func modelMerge(changes []SourcedChange) []MergedChange {
	var entries []modelEntry
	find := func(key string) int {
		return slices.IndexFunc(entries, func(e modelEntry) bool { return e.key == key })
	}
	for i, c := range changes {
		at := find(c.PathKey)
		if c.ChangeType == Renamed && *c.OldPathKey != c.PathKey && find(*c.OldPathKey) >= 0 {
			from := find(*c.OldPathKey)
			if at >= 0 {
				entries[from].ops = append(entries[from].ops, entries[at].ops...)
				slices.Sort(entries[from].ops)
			}
			entries[from].key = c.PathKey
			entries[from].ops = append(entries[from].ops, i)
			if at >= 0 {
				entries = slices.Delete(entries, at, at+1)
			}
			continue
		}
		if at < 0 {
			entries = append(entries, modelEntry{key: c.PathKey})
			at = len(entries) - 1
		}
		entries[at].ops = append(entries[at].ops, i)
	}
	merged := []MergedChange{}
	for _, e := range entries {
		var own []SourcedChange
		for _, i := range e.ops {
			own = append(own, changes[i])
		}
		merged = append(merged, modelEntryOf(e.key, own))
	}
	return merged
}

func modelEntryOf(key string, ops []SourcedChange) MergedChange {
	last := ops[len(ops)-1]
	m := MergedChange{PathKey: key, Path: last.Path, Deleted: last.ChangeType == Deleted, ChangeType: last.ChangeType}
	rest := ops
	for len(rest) > 0 && rest[len(rest)-1].ChangeType == Modified {
		rest = rest[:len(rest)-1]
	}
	if len(rest) > 0 && rest[len(rest)-1].ChangeType == Renamed {
		m.ChangeType = Renamed
	}
	var snapshots, patches, unsupported []SourcedChange
	var texts []string
	for _, c := range ops {
		if c.ChangeType == Created {
			m.ChangeType = Created
		}
		if c.LinesAdded != nil {
			m.LinesAdded = new(*c.LinesAdded + *orZero(m.LinesAdded))
		}
		if c.LinesDeleted != nil {
			m.LinesDeleted = new(*c.LinesDeleted + *orZero(m.LinesDeleted))
		}
		if s := (Source{c.SourceType, c.SourceSessionID}); !slices.Contains(m.Sources, s) {
			m.Sources = append(m.Sources, s)
		}
		switch c.DiffMode {
		case Snapshot:
			snapshots = append(snapshots, c)
			if hunks := diffTexts(*c.BeforeContent, *c.AfterContent).hunks(1 << 20); hunks != "" {
				texts = append(texts, hunks[:len(hunks)-1])
			}
		case Patch:
			patches = append(patches, c)
			texts = append(texts, *c.Patch)
			m.PatchTruncated = m.PatchTruncated || c.PatchTruncated
		case Unsupported:
			unsupported = append(unsupported, c)
		}
	}
	for _, c := range ops {
		if c.ChangeType == Renamed {
			if *c.OldPathKey != key {
				m.OldPath = c.OldPath
			}
			break
		}
	}
	m.PartiallyUnsupported = len(unsupported) > 0 && len(unsupported) < len(ops)
	switch {
	case len(patches) > 0:
		m.DiffMode, m.Patch = Patch, new(strings.Join(texts, "\n"))
	case len(snapshots) > 0:
		m.DiffMode, m.BeforeContent, m.AfterContent = Snapshot, snapshots[0].BeforeContent, snapshots[len(snapshots)-1].AfterContent
	default:
		m.DiffMode, m.DiffUnavailableReason = Unsupported, unsupported[len(unsupported)-1].DiffUnavailableReason
	}
	return m
}

func orZero(n *int64) *int64 {
	if n == nil {
		return new(int64)
	}
	return n
}

func drawnChange(t *rapid.T) SourcedChange {
	keys := rapid.SampledFrom([]string{"a", "b", "c", "404", "__proto__"})
	c := SourcedChange{SourceType: SourceMain, SourceSessionID: "main"}
	if child := rapid.SampledFrom([]string{"", "child-1", "child-2"}).Draw(t, "child"); child != "" {
		c.SourceType, c.SourceSessionID = SourceSubagent, child
	}
	c.PathKey = keys.Draw(t, "key")
	c.Path = "./" + c.PathKey
	c.ChangeType = rapid.SampledFrom(ChangeTypes).Draw(t, "type")
	if c.ChangeType == Renamed {
		old := keys.Draw(t, "old")
		c.OldPathKey, c.OldPath = &old, new("./"+old)
	}
	c.DiffMode = rapid.SampledFrom([]DiffMode{Snapshot, Snapshot, Patch, Unsupported}).Draw(t, "mode")
	short := rapid.SampledFrom([]string{"", "1\n", "2\n", "1\n2"})
	switch c.DiffMode {
	case Snapshot:
		c.BeforeContent, c.AfterContent = new(short.Draw(t, "before")), new(short.Draw(t, "after"))
	case Patch:
		c.Patch = new(rapid.SampledFrom([]string{"@@ one", "@@ two\n"}).Draw(t, "patch"))
		c.PatchTruncated = rapid.Bool().Draw(t, "truncated")
	case Unsupported:
		c.DiffUnavailableReason = new(rapid.SampledFrom([]string{ReasonBinary, ReasonNUL}).Draw(t, "reason"))
	}
	counts := rapid.Ptr(rapid.Int64Range(0, 9), true)
	c.LinesAdded, c.LinesDeleted = counts.Draw(t, "added"), counts.Draw(t, "deleted")
	return c
}

// QU-23: the merge and its plain model agree, and the changes stay as they were.
func TestMergeAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(drawnChange), 0, 12).Draw(t, "changes")
		asBefore, _ := json.Marshal(changes)
		got := Merge(changes)
		if diff := cmp.Diff(modelMerge(changes), got); diff != "" {
			t.Fatal(diff)
		}
		if now, _ := json.Marshal(changes); string(now) != string(asBefore) {
			t.Fatal("the merge changed its input")
		}
		wantSums(t, changes, got)
	})
}

// wantSums checks what holds whatever the rules of grouping: no line is lost and
// no key stands twice.
func wantSums(t *rapid.T, changes []SourcedChange, merged []MergedChange) {
	var in, out int64
	for _, c := range changes {
		in += *orZero(c.LinesAdded) - 3**orZero(c.LinesDeleted)
	}
	keys := map[string]bool{}
	for _, m := range merged {
		out += *orZero(m.LinesAdded) - 3**orZero(m.LinesDeleted)
		if keys[m.PathKey] {
			t.Fatalf("%q is listed twice", m.PathKey)
		}
		keys[m.PathKey] = true
	}
	if in != out {
		t.Fatal("the sums of lines differ")
	}
}

// Changes of different files, without renames, come out one by one and in order.
func TestMergeOfDistinctPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfNDistinct(rapid.Custom(drawnChange), 0, 5, func(c SourcedChange) string { return c.PathKey }).Draw(t, "changes")
		for i := range changes {
			if changes[i].ChangeType == Renamed {
				changes[i].ChangeType = Modified
			}
		}
		merged := Merge(changes)
		if len(merged) != len(changes) {
			t.Fatalf("%d entries of %d changes", len(merged), len(changes))
		}
		for i, c := range changes {
			want := MergedChange{
				PathKey: c.PathKey, Path: c.Path, ChangeType: c.ChangeType, Deleted: c.ChangeType == Deleted, DiffMode: c.DiffMode,
				BeforeContent: c.BeforeContent, AfterContent: c.AfterContent, Patch: c.Patch, PatchTruncated: c.PatchTruncated,
				DiffUnavailableReason: c.DiffUnavailableReason, LinesAdded: c.LinesAdded, LinesDeleted: c.LinesDeleted,
				Sources: []Source{{c.SourceType, c.SourceSessionID}},
			}
			if diff := cmp.Diff(want, merged[i]); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
