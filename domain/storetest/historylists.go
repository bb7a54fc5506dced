package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/history"
)

// moved is a message that renames a file.
func moved(from, to string) history.NewMessage {
	m := works()
	m.FileChanges = []history.ReportedChange{{Path: to, OldPath: &from, ChangeType: history.Renamed}}
	return m
}

// readsOn reads the merged list file by file, does something behind the first page,
// and compares the paths.
func (w *historyWorld) readsOn(t *testing.T, meanwhile func(), want ...string) {
	t.Helper()
	var got []string
	for r := (domain.PageRequest{Limit: 1}); ; {
		page, err := w.history.FileChanges(t.Context(), w.main.ID, r, history.DiffsNone)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Items {
			got = append(got, c.PathKey)
		}
		if page.NextCursor == nil {
			break
		}
		if r.Cursor = *page.NextCursor; meanwhile != nil {
			meanwhile()
			meanwhile = nil
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list differs:\n%s", diff)
	}
}

// API-7: whatever becomes of what a reader saw, the files behind it come once.
func listsWhileJoined(t *testing.T, w *historyWorld) {
	w.say(t, w.main, works("first", "second", "third"))
	w.readsOn(t, func() { w.say(t, w.main, moved("third", "first")) }, "first", "second", "first")
}

func listsWhileRunEnds(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	w.say(t, w.main, user(), delegates("call"), works("first", "second"))
	e := w.start(t, child, "call")
	w.say(t, child, works("earlier"))
	w.readsOn(t, func() { w.end(t, e) }, "first", "second")
	w.readsOn(t, nil, "earlier", "first", "second")
}

func listsWhileRolledBack(t *testing.T, w *historyWorld) {
	w.say(t, w.main, works("first"), works("second"))
	w.readsOn(t, func() {
		if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 1); err != nil {
			t.Fatal(err)
		}
		w.say(t, w.main, works("third", "fourth"))
	}, "first", "third", "fourth")
}

// HI-24: an entry of snapshots needs the first and the last of its texts, however often
// its file was edited.
func listsOftenEdited(t *testing.T, w *historyWorld) {
	side := func(i int) *string {
		return new(strings.Repeat(fmt.Sprintf("%1023d\n", i), domain.MaxSnapshotSide/1024))
	}
	for i := range 20 {
		m := works()
		m.FileChanges = []history.ReportedChange{{Path: "often", ChangeType: history.Modified, BeforeContent: side(i), AfterContent: side(i + 1)}}
		w.say(t, w.main, m)
	}
	w.say(t, w.main, works("behind"))
	list, err := w.history.FileChanges(t.Context(), w.main.ID, domain.PageRequest{}, history.DiffsInline)
	if err != nil {
		t.Fatal(err)
	}
	rounds, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for name, items := range map[string][]history.MergedChange{"list": list.Items, "round": rounds.Items[0].FileChanges} {
		often, behind := items[0], items[1]
		if often.DiffOmitted || *often.BeforeContent != *side(0) || *often.AfterContent != *side(20) {
			t.Errorf("%s: texts of the file are left out (%t), or not the first and the last", name, often.DiffOmitted)
		}
		if behind.DiffOmitted || *behind.AfterContent != "a\nb\n" {
			t.Errorf("%s: what is behind it is %+v", name, behind)
		}
	}
}
