package storetest

import (
	"log/slog"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// ContextReads is what every subagent.ContextReader must do. What it says of the health
// is tried where rows can be written that no operation writes.
func ContextReads(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *readsWorld){
		"SC-11 lists page in order":                 contextLists,
		"SC-44 the filter is the session and turn":  contextFilters,
		"API-7 a bad or foreign cursor is refused":  contextCursors,
		"SC-44 the sum of nothing is null":          contextSums,
		"SC-44 a sum may be beyond 64 bits":         contextGreatSums,
		"SC-44 the reference population comes back": contextPopulation,
	} {
		t.Run(name, func(t *testing.T) { test(t, newReadsWorld(t, open)) })
	}
}

// readsWorld is a session whose contexts are recorded and read.
type readsWorld struct {
	*historyWorld
	recorder *subagent.Recorder
	contexts *subagent.Contexts
}

func newReadsWorld(t *testing.T, open Open) *readsWorld {
	t.Helper()
	w := &readsWorld{historyWorld: newHistoryWorld(t, newWorld(t, open))}
	w.recorder = subagent.NewRecorder(w.store.Contexts(), w.clock, slog.New(slog.NewTextHandler(t.Output(), nil)), &FrameCounts{})
	w.contexts = subagent.NewContexts(w.store.ContextReader())
	return w
}

// record records frames of the session, in the order given and observed at the start
// unless they say when.
func (w *readsWorld) record(frames ...subagent.Report) {
	for _, f := range frames {
		f.TaskID = w.taskID
		if f.TaskSessionID == "" {
			f.TaskSessionID = w.main.ID
		}
		if f.ObservedAt.IsZero() {
			f.ObservedAt = start
		}
		w.recorder.Record(w.t.Context(), []subagent.Report{f})
	}
}

// list reads all pages of a filter.
func (w *readsWorld) list(t *testing.T, f subagent.ContextFilter, limit int) []subagent.Context {
	t.Helper()
	return listed(t, limit, func(r domain.PageRequest) (domain.Page[subagent.Context], error) {
		return w.contexts.List(t.Context(), f, r)
	}, func(c subagent.Context) subagent.Context { return c })
}

func (w *readsWorld) summary(t *testing.T, f subagent.ContextFilter) subagent.ContextSummary {
	t.Helper()
	s, err := w.contexts.Summary(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w *readsWorld) all() subagent.ContextFilter {
	return subagent.ContextFilter{SessionID: w.main.ID}
}

func contextLists(t *testing.T, w *readsWorld) {
	later := start.Add(time.Microsecond)
	w.record(
		subagent.Report{ToolCallID: "A", ObservedAt: later},
		subagent.Report{ToolCallID: "é"}, subagent.Report{ToolCallID: "a"}, subagent.Report{ToolCallID: "_"},
		subagent.Report{ToolCallID: "B"}, subagent.Report{ToolCallID: "b", ExecutionID: "é"},
		subagent.Report{ToolCallID: "b", ExecutionID: "z"}, subagent.Report{ToolCallID: "b", ExecutionID: "Z"},
		subagent.Report{ToolCallID: "0", ObservedAt: start.Add(-time.Microsecond)},
	)
	want := []string{"0 unknown", "B unknown", "_ unknown", "a unknown", "b Z", "b z", "b é", "é unknown", "A unknown"}
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []string
		for _, c := range w.list(t, w.all(), limit) {
			got = append(got, c.ToolCallID+" "+c.AgentExecutionID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: %q, want %q", limit, got, want)
		}
	}
}

func contextFilters(t *testing.T, w *readsWorld) {
	other, turn := w.mainIn("/x"), domain.NewID()
	w.record(
		subagent.Report{ToolCallID: "of the turn", TurnID: turn}, subagent.Report{ToolCallID: "of no turn"},
		subagent.Report{ToolCallID: "elsewhere", TurnID: turn, TaskSessionID: other.ID},
	)
	for name, c := range map[string]struct {
		filter subagent.ContextFilter
		want   []string
	}{
		"session":    {w.all(), []string{"of no turn", "of the turn"}},
		"turn":       {subagent.ContextFilter{SessionID: w.main.ID, TurnID: &turn}, []string{"of the turn"}},
		"other turn": {subagent.ContextFilter{SessionID: w.main.ID, TurnID: new(domain.NewID())}, nil},
		"nothing":    {subagent.ContextFilter{SessionID: domain.NewID()}, nil},
	} {
		var got []string
		for _, found := range w.list(t, c.filter, 10) {
			got = append(got, found.ToolCallID)
		}
		if !slices.Equal(got, c.want) || w.summary(t, c.filter).Invocations != int64(len(c.want)) {
			t.Errorf("%s: %q and %+v, want %q", name, got, w.summary(t, c.filter), c.want)
		}
	}
}

func contextCursors(t *testing.T, w *readsWorld) {
	turn := domain.NewID()
	w.record(subagent.Report{ToolCallID: "a", TurnID: turn}, subagent.Report{ToolCallID: "b", TurnID: turn})
	page, err := w.contexts.List(t.Context(), w.all(), domain.PageRequest{Limit: 1})
	if err != nil || page.NextCursor == nil {
		t.Fatalf("%+v, %v", page, err)
	}
	kind, when := "contexts/"+w.main.ID, start.Format(time.RFC3339Nano)
	for name, cursor := range map[string]string{
		"no cursor": "x", "two parts": domain.EncodeCursor(kind, when, "a"), "no time": domain.EncodeCursor(kind, "now", "a", "b"),
		"a time out of range": domain.EncodeCursor(kind, "0001-01-01T00:00:00+01:00", "a", "b"),
		"U+0000":              domain.EncodeCursor(kind, when, "a\x00", "b"),
		"another session":     domain.EncodeCursor("contexts/"+domain.NewID(), when, "a", "b"),
	} {
		_, err := w.contexts.List(t.Context(), w.all(), domain.PageRequest{Cursor: cursor})
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
		wantErr(t, err, domain.ErrValidation)
	}
	_, err = w.contexts.List(t.Context(), subagent.ContextFilter{SessionID: w.main.ID, TurnID: &turn}, domain.PageRequest{Cursor: *page.NextCursor})
	wantErr(t, err, domain.ErrValidation)
	_, err = w.contexts.List(t.Context(), w.all(), domain.PageRequest{Limit: domain.MaxListItems + 1})
	wantErr(t, err, domain.ErrValidation)
}

func contextSums(t *testing.T, w *readsWorld) {
	if diff := cmp.Diff(subagent.ContextSummary{}, w.summary(t, w.all())); diff != "" {
		t.Errorf("of nothing:\n%s", diff)
	}
	w.record(
		subagent.Report{ToolCallID: "silent"},
		subagent.Report{ToolCallID: "zero", ToolStatus: "failed", Payload: subagent.Payload{ToolUseCount: new(int64(0))}},
		subagent.Report{ToolCallID: "some", ToolStatus: "running", Payload: subagent.Payload{TotalTokens: new(int64(7)), ToolUseCount: new(int64(2))}},
	)
	got := w.summary(t, w.all())
	if got.Invocations != 3 || got.Settled != 1 || got.InFlight() != 2 {
		t.Errorf("%+v", got)
	}
	wantSum(t, "total_tokens", got.TotalTokens, "7", 1)
	wantSum(t, "tool_use_count", got.ToolUses, "2", 2)
	wantSum(t, "duration_ms", got.DurationMS, "", 0)
}

func contextGreatSums(t *testing.T, w *readsWorld) {
	want := new(big.Int)
	for i := range 5 {
		n := int64(math.MaxInt64 - i)
		w.record(subagent.Report{ToolCallID: clientID(i), Payload: subagent.Payload{TotalTokens: &n, ToolUseCount: new(int64(1<<32 - 1)), DurationMS: new(int64(i + 1))}})
		want.Add(want, big.NewInt(n))
	}
	got := w.summary(t, w.all())
	wantSum(t, "total_tokens", got.TotalTokens, want.String(), 5)
	wantSum(t, "tool_use_count", got.ToolUses, "21474836475", 5)
	wantSum(t, "duration_ms", got.DurationMS, "15", 5)
}

// wantSum compares a sum with a decimal, "" for none.
func wantSum(t *testing.T, name string, got subagent.Sum, total string, reported int64) {
	t.Helper()
	text := ""
	if got.Total != nil {
		text = got.Total.String()
	}
	if text != total || got.Reported != reported {
		t.Errorf("%s is %q of %d, want %q of %d", name, text, got.Reported, total, reported)
	}
}
