package storetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
)

func pageValidates(t *testing.T, w *historyWorld) {
	one := int64(1)
	for want, q := range map[string]history.PageQuery{
		"/query/limit contradictory": {Rounds: new(1), Limit: new(1)},
		"/query/after contradictory": {Before: &one, After: &one},
		"/query/limit range":         {Limit: new(201)},
		"/query/rounds range":        {Rounds: new(0)},
		"/query/diffs enum":          {Diffs: "some"},
	} {
		if _, err := w.history.Messages(t.Context(), w.main.ID, q); err == nil || err.Error() != "validation_failed: "+want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
	_, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{Limit: 51})
	wantErr(t, err, domain.ErrValidation)
	_, err = w.history.FileChanges(t.Context(), w.main.ID, domain.PageRequest{Cursor: "x"}, "")
	wantErr(t, err, domain.ErrValidation)
	_, err = w.history.Messages(t.Context(), domain.NewID(), history.PageQuery{})
	wantErr(t, err, session.ErrNotFound)
	_, err = w.history.FileChanges(t.Context(), domain.NewID(), domain.PageRequest{}, "")
	wantErr(t, err, session.ErrNotFound)
}

// seven is a session of seven messages in three rounds, of which the middle one lost
// its end: 1 | 2 3 | 4 (5) (6) | 7.
func (w *historyWorld) seven(t *testing.T) {
	w.say(t, w.main, works(), user(), works(), user(), works(), works())
	if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 5); err != nil {
		t.Fatal(err)
	}
	w.say(t, w.main, user())
}

// wantPages reads the pages of want and compares what they are.
func (w *historyWorld) wantPages(t *testing.T, want []pageCase) {
	t.Helper()
	for _, c := range want {
		page := w.read(t, w.main, c.query)
		next := int64(0)
		if page.NextBefore != nil {
			next = *page.NextBefore
		}
		got := pageCase{c.name, c.query, seqsOf(page), page.HasMore, next}
		if diff := cmp.Diff(c, got, cmp.AllowUnexported(pageCase{})); diff != "" || page.LastSeq != 7 || page.SessionID != w.main.ID {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

type pageCase struct {
	name  string
	query history.PageQuery
	seqs  []int64
	more  bool
	next  int64 // 0 for none
}

func pagesRounds(t *testing.T, w *historyWorld) {
	w.seven(t)
	w.wantPages(t, []pageCase{
		{"by default five", history.PageQuery{}, []int64{1, 2, 3, 4, 7}, false, 0},
		{"the last", history.PageQuery{Rounds: new(1)}, []int64{7}, true, 7},
		{"the last three", history.PageQuery{Rounds: new(3)}, []int64{2, 3, 4, 7}, true, 2},
		{"round 0 with them", history.PageQuery{Rounds: new(4)}, []int64{1, 2, 3, 4, 7}, false, 0},
		{"before", history.PageQuery{Rounds: new(2), Before: new(int64(7))}, []int64{2, 3, 4}, true, 2},
		{"before a deleted one", history.PageQuery{Rounds: new(1), Before: new(int64(6))}, []int64{4}, true, 4},
		{"before the middle of a round", history.PageQuery{Rounds: new(1), Before: new(int64(3))}, []int64{2}, true, 2},
		{"before round 0 ends", history.PageQuery{Rounds: new(1), Before: new(int64(2))}, []int64{1}, false, 0},
		{"before anything", history.PageQuery{Before: new(int64(math.MinInt64))}, []int64{}, false, 0},
		{"before far ahead", history.PageQuery{Rounds: new(1), Before: new(int64(math.MaxInt64))}, []int64{7}, true, 7},
		{"after nothing", history.PageQuery{Rounds: new(1), After: new(int64(-9))}, []int64{1}, true, 0},
		{"after the middle of a round", history.PageQuery{Rounds: new(1), After: new(int64(2))}, []int64{3}, true, 3},
		{"after a deleted one", history.PageQuery{Rounds: new(2), After: new(int64(5))}, []int64{7}, false, 7},
		{"after, two", history.PageQuery{Rounds: new(2), After: new(int64(1))}, []int64{2, 3, 4}, true, 2},
		{"after the last", history.PageQuery{After: new(int64(7))}, []int64{}, false, 8},
		{"after far ahead", history.PageQuery{After: new(int64(math.MaxInt64))}, []int64{}, false, math.MaxInt64},
	})
}

func pagesMessages(t *testing.T, w *historyWorld) {
	w.seven(t)
	w.wantPages(t, []pageCase{
		{"the last two", history.PageQuery{Limit: new(2)}, []int64{4, 7}, true, 4},
		{"all", history.PageQuery{Limit: new(5)}, []int64{1, 2, 3, 4, 7}, false, 0},
		{"before", history.PageQuery{Limit: new(2), Before: new(int64(4))}, []int64{2, 3}, true, 2},
		{"before, to the start", history.PageQuery{Limit: new(1), Before: new(int64(2))}, []int64{1}, false, 0},
		{"after", history.PageQuery{Limit: new(2), After: new(int64(3))}, []int64{4, 7}, false, 4},
		{"after, more", history.PageQuery{Limit: new(1), After: new(int64(3))}, []int64{4}, true, 4},
	})
}

func pagesLongRound(t *testing.T, w *historyWorld) {
	const rounds, long = 3, 1100
	for range rounds {
		batch := []history.NewMessage{user()}
		for len(batch) < long {
			batch = append(batch, works())
		}
		for chunk := range slices.Chunk(batch, domain.MaxBatch) {
			w.say(t, w.main, chunk...)
		}
	}
	var back, on []int64
	for q := (history.PageQuery{Rounds: new(2)}); ; {
		page := w.read(t, w.main, q)
		if len(page.Messages) > domain.MaxPageMessages {
			t.Fatalf("page of %d messages", len(page.Messages))
		}
		back = append(seqsOf(page), back...)
		if !page.HasMore {
			break
		}
		q.Before = page.NextBefore
	}
	for q := (history.PageQuery{Rounds: new(2), After: new(int64(0))}); ; {
		page := w.read(t, w.main, q)
		on = append(on, seqsOf(page)...)
		if !page.HasMore {
			break
		}
		q.After = new(on[len(on)-1])
	}
	for i := range int64(rounds * long) {
		if back[i] != i+1 || on[i] != i+1 {
			t.Fatalf("message %d is %d paging back and %d paging on", i+1, back[i], on[i])
		}
	}
	if len(back) != rounds*long || len(on) != rounds*long {
		t.Errorf("%d messages paging back, %d paging on", len(back), len(on))
	}
	list, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Messages != domain.MaxPageMessages || list.Items[0].UserMessage != nil || !list.HasMore {
		t.Errorf("rounds are %+v, %v", list, err)
	}
}

func listsRounds(t *testing.T, w *historyWorld) {
	w.say(t, w.main, works("zero"), user(), delegates("call", "none"))
	w.run(w.child(w.main), "call", "a", "b")
	w.start(t, w.child(w.main), "none")
	again := works("a")
	again.FileChanges[0] = history.ReportedChange{Path: "a", ChangeType: history.Modified, BeforeContent: new("a\nb\n"), AfterContent: new("a\nc\n")}
	w.say(t, w.main, again, user())
	list, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list.Items {
		line := fmt.Sprintf("%d-%d %d %d %s +%d -%d", r.FirstSeq, r.LastSeq, r.Messages, r.Subagents, r.State, *r.LinesAdded, *r.LinesDeleted)
		parts := []string{line}
		for _, c := range r.FileChanges {
			parts = append(parts, fmt.Sprintf("%s:%s:%d:%d", c.PathKey, c.ChangeType, *c.LinesAdded, len(c.Sources)))
		}
		if r.UserMessage != nil {
			parts = append(parts, r.UserMessage.Content)
		}
		got = append(got, strings.Join(parts, " "))
	}
	want := []string{
		"1-1 1 0 completed +2 -0 zero:CREATED:2:1",
		"2-4 3 2 completed +5 -1 a:CREATED:3:2 b:CREATED:2:1 go on",
		"5-5 1 0 completed +0 -0 go on",
	}
	if diff := cmp.Diff(want, got); diff != "" || list.HasMore || list.NextBefore != nil {
		t.Errorf("rounds differ:\n%s", diff)
	}
	if merged := list.Items[1].FileChanges[0]; *merged.BeforeContent != "" || *merged.AfterContent != "a\nc\n" {
		t.Errorf("merged change is %+v", merged)
	}
	older, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{Limit: 1, Before: new(int64(5))})
	if err != nil || len(older.Items) != 1 || older.Items[0].FirstSeq != 2 || !older.HasMore || *older.NextBefore != 2 {
		t.Errorf("older rounds are %+v, %v", older, err)
	}
}

func listsRunningRound(t *testing.T, w *historyWorld) {
	w.say(t, w.main, user(), works("a"), user(), works("b"), works("c"))
	if _, err := w.sessions.Update(t.Context(), w.taskID, w.main.ID, session.Patch{State: new(session.StateRunning)}); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[int64][]history.RoundState{
		99: {history.RoundCompleted, history.RoundRunning},
		5:  {history.RoundCompleted, history.RoundRunning}, // a part of the last round
		3:  {history.RoundCompleted},
	} {
		list, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{Before: &before})
		if err != nil {
			t.Fatal(err)
		}
		var got []history.RoundState
		for _, r := range list.Items {
			got = append(got, r.State)
			if running := r.State == history.RoundRunning; running != (len(r.FileChanges) == 0) || running != (r.LinesAdded == nil) {
				t.Errorf("round is %+v", r)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("before %d:\n%s", before, diff)
		}
	}
}

func listsChanges(t *testing.T, w *historyWorld) {
	w.say(t, w.main, user(), delegates("call"), works("a", "b"), works("gone"))
	w.run(w.child(w.main), "call", "b", "c")
	if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 4); err != nil {
		t.Fatal(err)
	}
	w.say(t, w.main, works("a"))
	got := listed(t, 2, func(r domain.PageRequest) (domain.Page[history.MergedChange], error) {
		return w.history.FileChanges(t.Context(), w.main.ID, r, history.DiffsInline)
	}, func(c history.MergedChange) string {
		return fmt.Sprintf("%s +%d %d %s", c.PathKey, *c.LinesAdded, len(c.Sources), *c.AfterContent)
	})
	want := []string{"b +4 2 a\nb\n", "c +2 1 a\nb\n", "a +4 1 a\nb\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list differs:\n%s", diff)
	}
	page, err := w.history.FileChanges(t.Context(), w.main.ID, domain.PageRequest{}, history.DiffsNone)
	if err != nil || !page.Items[0].DiffOmitted || page.Items[0].AfterContent != nil {
		t.Errorf("list without texts is %+v, %v", page, err)
	}
}

// deleteSession removes the row of a session, and what goes with it.
func (w *historyWorld) deleteSession(id string) {
	w.t.Helper()
	store, ok := w.store.(interface {
		DeleteSession(ctx context.Context, id string) error
	})
	if !ok {
		w.t.Fatal("the store cannot delete a session")
	}
	if err := store.DeleteSession(w.t.Context(), id); err != nil {
		w.t.Fatal(err)
	}
}
