package storetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/history"
)

// maxStatements is what a read of a history may cost (HI-23).
const maxStatements = 5

// HistoryStatements counts the statements of reading: their number does not depend
// on how much there is (HI-23). watch tells every statement of the last store.
func HistoryStatements(t *testing.T, open Open, watch func(tb testing.TB, f func(sql string))) {
	w := newHistoryWorld(t, newWorld(t, open))
	count := 0
	watch(t, func(sql string) {
		if sql != "COMMIT" && sql != "ROLLBACK" && !strings.HasPrefix(sql, "BEGIN") {
			count++
		}
	})
	large := works("a", "b")
	large.FileChanges[0].AfterContent = new(strings.Repeat("x", 5000))
	w.say(t, w.main, user(), large, user())
	w.nest(t, large, domain.MaxNesting+1)
	want := map[string]int(nil)
	delegations := 0
	for _, n := range []int{0, 1, 8, 50} {
		for ; delegations < n; delegations++ {
			w.say(t, w.main, user(), delegates("call"))
			w.delegated(t, large)
		}
		w.say(t, w.main, user(), large)
		counts := map[string]int{}
		for name, read := range w.historyReads(t) {
			count = 0
			if err := read(); err != nil {
				t.Fatal(err)
			}
			if counts[name] = count; count > maxStatements {
				t.Errorf("%s took %d statements", name, count)
			}
		}
		if want == nil {
			want = counts
		}
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Errorf("with %d delegations:\n%s", n, diff)
		}
	}
}

// delegated runs a child, on the call that the main session issued last, which works
// and delegates in turn.
func (w *historyWorld) delegated(t *testing.T, work history.NewMessage) {
	t.Helper()
	child := w.child(w.main)
	e := w.start(t, child, "call")
	w.say(t, child, delegates("deep"), work)
	w.run(w.child(child), "deep", "c")
	w.end(t, e)
}

// nest delegates from session to session, so many deep.
func (w *historyWorld) nest(t *testing.T, work history.NewMessage, depth int) {
	t.Helper()
	parent := w.main
	for range depth {
		w.say(t, parent, delegates("nested"), work)
		child := w.child(parent)
		defer w.end(t, w.start(t, child, "nested"))
		parent = child
	}
}

// historyReads are the ways to read the history of the main session, each of which
// meets a change with a text that does not come with its row.
func (w *historyWorld) historyReads(t *testing.T) map[string]func() error {
	t.Helper()
	page := w.read(t, w.main, history.PageQuery{})
	last, own := &page.LastSeq, page.Messages[len(page.Messages)-1].FileChanges[0].ID
	pages := map[string]history.PageQuery{
		"rounds":        {},
		"all rounds":    {Rounds: new(domain.MaxRounds)},
		"rounds before": {Before: last, Rounds: new(domain.MaxRounds)},
		"rounds after":  {After: new(int64(0))},
		"limit":         {Limit: new(domain.MaxListItems)},
		"limit before":  {Limit: new(domain.MaxListItems), Before: last},
		"limit after":   {Limit: new(domain.MaxListItems), After: new(int64(0))},
		"no diffs":      {Diffs: history.DiffsNone},
		"nothing left":  {After: last},
	}
	reads := map[string]func() error{
		"list of rounds": func() error {
			_, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{})
			return err
		},
		"list of rounds before": func() error {
			_, err := w.history.Rounds(t.Context(), w.main.ID, history.RoundQuery{Limit: domain.MaxRounds, Before: last})
			return err
		},
		"merged list": func() error {
			_, err := w.history.FileChanges(t.Context(), w.main.ID, domain.PageRequest{}, "")
			return err
		},
		"one change": func() error { _, err := w.history.FileChange(t.Context(), own); return err },
	}
	for name, q := range pages {
		reads[name] = func() error { _, err := w.history.Messages(t.Context(), w.main.ID, q); return err }
	}
	return reads
}
