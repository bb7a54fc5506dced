package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
)

// A page holds so much text and no more, whatever the number of messages it was asked
// for: the rest is on the next one, in either direction. One message that has more is a
// page of its own. A page of rounds does not count what it does not show (HI-24).
func pagesLongTexts(t *testing.T, w *historyWorld) {
	long := strings.Repeat("x", domain.MaxMessageText)
	full := domain.MaxPageText / domain.MaxMessageText
	huge := history.NewMessage{Role: session.RoleAssistant}
	for range full + 1 {
		huge.ToolCalls = append(huge.ToolCalls, session.ToolCall{ID: domain.NewID(), Name: "write", Arguments: long})
	}
	w.say(t, w.main, user(), huge)
	for range full {
		w.say(t, w.main, history.NewMessage{Role: session.RoleAssistant, Content: long})
	}
	w.say(t, w.main, user())
	want := []int64{}
	for seq := range int64(full + 3) {
		want = append(want, seq+1)
	}
	for name, q := range map[string]history.PageQuery{"limit": {Limit: new(domain.MaxListItems)}, "rounds": {Rounds: new(domain.MaxRounds)}} {
		if back := w.walkBack(t, q); !cmp.Equal(back, want) {
			t.Errorf("%s, paging back: %v", name, back)
		}
		if on := w.walkOn(t, q); !cmp.Equal(on, want) {
			t.Errorf("%s, paging on: %v", name, on)
		}
	}
	list, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{})
	if err != nil || len(list.Items) != 2 || list.HasMore || list.Items[0].Messages != full+2 {
		t.Errorf("rounds are %+v, %v", list, err)
	}
}

// walkBack reads pages from the newest to the oldest, and returns the seqs ascending.
func (w *historyWorld) walkBack(t *testing.T, q history.PageQuery) (seqs []int64) {
	t.Helper()
	for {
		page := w.read(t, w.main, q)
		checkText(t, page)
		seqs = append(seqsOf(page), seqs...)
		if q.Before = page.NextBefore; page.HasMore != (q.Before != nil) {
			t.Fatalf("more %t, next before %v", page.HasMore, q.Before)
		}
		if !page.HasMore {
			return seqs
		}
	}
}

// walkOn reads pages from the oldest to the newest.
func (w *historyWorld) walkOn(t *testing.T, q history.PageQuery) (seqs []int64) {
	t.Helper()
	for q.After = new(int64(0)); ; q.After = new(slices.Max(seqs)) {
		page := w.read(t, w.main, q)
		checkText(t, page)
		seqs = append(seqs, seqsOf(page)...)
		if !page.HasMore {
			return seqs
		}
	}
}

func checkText(t *testing.T, page history.Page) {
	t.Helper()
	text := 0
	for _, m := range page.Messages {
		text += len(m.Content) + len(m.ToolCalls)
	}
	if len(page.Messages) == 0 || len(page.Messages) > 1 && text > domain.MaxPageText {
		t.Fatalf("page of %d messages with %d bytes", len(page.Messages), text)
	}
}
