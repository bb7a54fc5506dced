package storetest

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/history"
)

func showsNoDiffs(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	w.say(t, w.main, user(), delegates("call"))
	w.run(child, "call", "a")
	page := w.read(t, w.main, history.PageQuery{Diffs: history.DiffsNone})
	got := page.Messages[1].FileChanges[0]
	if got.AfterContent != nil || got.BeforeContent != nil || !got.DiffOmitted || *got.LinesAdded != 2 || got.DiffMode != history.Snapshot {
		t.Errorf("change is %+v", got)
	}
	full, err := w.history.FileChange(t.Context(), got.ID)
	if err != nil || full.DiffOmitted || *full.AfterContent != "a\nb\n" || full.SourceSessionID != child.ID || *full.SourceAgentType != "coder" {
		t.Errorf("change in full is %+v, %v", full, err)
	}
	_, err = w.history.FileChange(t.Context(), domain.NewID())
	wantErr(t, err, history.ErrFileChangeNotFound)
}

// created is a message that creates files of so many bytes.
func created(sizes ...int) history.NewMessage {
	m := works()
	for i, size := range sizes {
		text := strings.Repeat(strings.Repeat("x", 1023)+"\n", domain.MaxSnapshotSide/1024)[:size]
		m.FileChanges = append(m.FileChanges, history.ReportedChange{
			Path: fmt.Sprintf("f%02d", i), ChangeType: history.Created, AfterContent: &text,
		})
	}
	return m
}

// The border is exact: 8 MiB are shown, and not a byte more. Behind it no text comes, and
// what has none is not said to miss it.
func showsSomeDiffs(t *testing.T, w *historyWorld) {
	const full, fits = domain.MaxSnapshotSide, 17
	sizes := []int{}
	for range domain.MaxPageDiffText/full - 1 {
		sizes = append(sizes, full)
	}
	m := created(append(sizes, full-1, 1, 1, full, 1)...)
	m.FileChanges = append(m.FileChanges, history.ReportedChange{Path: "last", ChangeType: history.Deleted})
	w.say(t, w.main, user(), m)
	check := func(i int, mode history.DiffMode, text *string, omitted bool) {
		t.Helper()
		wanted := mode != history.Unsupported && i >= fits
		if omitted != wanted || mode == history.Snapshot && (text == nil) != wanted {
			t.Errorf("change %d: omitted %t", i, omitted)
		}
	}
	for i, c := range w.read(t, w.main, history.PageQuery{}).Messages[1].FileChanges {
		check(i, c.DiffMode, c.AfterContent, c.DiffOmitted)
	}
	rounds, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range rounds.Items[0].FileChanges {
		check(i, c.DiffMode, c.AfterContent, c.DiffOmitted)
	}
	list, err := w.history.FileChanges(t.Context(), w.main.ID, domain.PageRequest{}, history.DiffsInline)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range list.Items {
		check(i, c.DiffMode, c.AfterContent, c.DiffOmitted)
	}
	if n := len(list.Items); n != fits+4 {
		t.Errorf("%d files", n)
	}
}

// The texts of runs count like a session's own, and each change has its own in full.
func showsLeftOut(t *testing.T, w *historyWorld) {
	const full = domain.MaxSnapshotSide
	m := delegates("call")
	m.FileChanges = created(full, full, full, full, full, full, full, full, full, full, full, full, full, full, full, full).FileChanges
	w.say(t, w.main, user(), m)
	w.run(w.child(w.main), "call", "child's")
	changes := w.read(t, w.main, history.PageQuery{}).Messages[1].FileChanges
	own, childs := changes[15], changes[16]
	if own.DiffOmitted || !childs.DiffOmitted || childs.AfterContent != nil || *childs.LinesAdded != 2 {
		t.Errorf("own text omitted %t, the child's %t", own.DiffOmitted, childs.DiffOmitted)
	}
	alone, err := w.history.FileChange(t.Context(), childs.ID)
	if err != nil || alone.DiffOmitted || *alone.AfterContent != "a\nb\n" {
		t.Errorf("alone it is %+v, %v", alone, err)
	}
}
