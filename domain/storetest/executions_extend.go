package storetest

import (
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// HI-30: what a run is told late becomes its own, and those behind it that said
// nothing yet begin where it ends.
func executionExtends(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	w.say(t, w.main, user(), delegates("one", "two", "three"))
	first := w.run(child, "one", "a")
	second := w.end(t, w.start(t, child, "two"))
	third := w.start(t, child, "three")
	w.wantShown(t, w.main, map[int64][]string{2: {"a"}})
	w.say(t, child, works("late"))
	w.notices.take()
	w.wantRange(t, first, 0, 3)
	if got := w.notices.take(); len(got) != 1 || !got[0].Change.Sessions[0].Messages || !got[0].Change.Sessions[0].Executions {
		t.Errorf("notices: %+v", got)
	}
	w.wantRange(t, second, 3, 3)
	w.wantRange(t, third, 3, -1)
	w.wantShown(t, w.main, map[int64][]string{2: {"a", "late"}})

	w.say(t, child, works("third's"))
	w.end(t, third)
	w.say(t, child, works("whose?"))
	w.wantRange(t, first, 0, 3) // a later run has spoken
	w.wantRange(t, third, 3, 5)
	w.notices.take()
	w.wantRange(t, third, 3, 5)
	if got := w.notices.take(); len(got) > 0 {
		t.Errorf("nothing changed, notices: %+v", got)
	}
	_, err := w.runs.Extend(t.Context(), w.taskID, domain.NewID())
	wantErr(t, err, subagent.ErrExecutionNotFound)
	_, err = w.runs.Extend(t.Context(), w.task().ID, first.ID)
	wantErr(t, err, subagent.ErrExecutionNotFound)
}

// wantRange extends a run and compares what it holds then; an end of -1 is none.
func (w *historyWorld) wantRange(t *testing.T, e subagent.Execution, start, end int64) {
	t.Helper()
	got, err := w.runs.Extend(t.Context(), w.taskID, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	if stored := w.execution(e.ID); *stored.StartMessageSeq != *got.StartMessageSeq {
		t.Errorf("run %d is answered as %+v, stored as %+v", e.Run, got, stored)
	}
	if open := got.EndMessageSeq == nil; *got.StartMessageSeq != start || open != (end < 0) || !open && *got.EndMessageSeq != end {
		t.Errorf("run %d: %d to %v, want %d to %d", e.Run, *got.StartMessageSeq, got.EndMessageSeq, start, end)
	}
}
