package storetest

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/subagent"
)

// ContextStore is a store whose contexts can be broken.
type ContextStore interface {
	Store

	// BreakContexts takes the table of contexts away.
	BreakContexts(ctx context.Context) error
}

// Contexts is what every subagent.ContextStore must do. cases is the path of
// testdata/cases/subagent-upsert.json.
func Contexts(t *testing.T, open func(tb testing.TB) ContextStore, cases string) {
	t.Run("cases", func(t *testing.T) {
		w := newContextWorld(t, open)
		for _, c := range ContextCases(t, cases) {
			t.Run(c.Name, func(t *testing.T) { w.runCase(t, c) })
		}
	})
	for name, test := range map[string]func(*testing.T, *contextWorld){
		"SC-3 to SC-10 random frames equal the model":            contextModel,
		"SC-12 writers of the same keys":                         contextWriters,
		"SC-12 fan-outs":                                         contextFanOuts,
		"SC-13 contexts go with their session, not their turn":   contextDeletes,
		"SC-21 a late frame leaves the later execution as it is": contextExecutions,
		"SC-14 a recorder that fails breaks nothing":             contextFailures,
		"SC-1 frames of a transcript leave contexts":             contextsOfFrames,
		"SC-1 SC-41 a call told in halves leaves a context":      contextsOfHalves,
	} {
		t.Run(name, func(t *testing.T) { test(t, newContextWorld(t, open)) })
	}
}

// contextWorld is a world with a recorder that is counted.
type contextWorld struct {
	*historyWorld
	store    ContextStore
	counts   *FrameCounts
	recorder *subagent.Recorder
}

func newContextWorld(t *testing.T, open func(tb testing.TB) ContextStore) *contextWorld {
	t.Helper()
	w := &contextWorld{counts: &FrameCounts{}}
	w.historyWorld = newHistoryWorld(t, newWorld(t, func(tb testing.TB) Store {
		w.store = open(tb)
		return w.store
	}))
	w.recorder = subagent.NewRecorder(w.store.Contexts(), w.clock, slog.New(slog.NewTextHandler(t.Output(), nil)), w.counts)
	w.history = w.history.RecordingTo(w.recorder)
	return w
}

// runCase records the frames of a case one by one, in a session of its own.
func (w *contextWorld) runCase(t *testing.T, c ContextCase) {
	of := w.mainIn("/w")
	w.counts.n = nil
	for _, f := range c.Frames {
		w.recorder.Record(t.Context(), []subagent.Report{f.Report(t, of.ID, w.taskID)})
	}
	if diff := cmp.Diff(c.Rows, CaseRows(w.contextsOf(t, of.ID))); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(c.Counters, w.counts.All()); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

// drawFrame draws a frame of few keys and few values, so that they meet.
func drawFrame(t *rapid.T, sessionID, taskID string) subagent.Report {
	text := func(name string, of ...string) string { return rapid.SampledFrom(append(of, "")).Draw(t, name) }
	number := func(name string) *int64 {
		return rapid.SampledFrom([]*int64{nil, new(int64(-1)), new(int64(0)), new(int64(1)), new(int64(1 << 62))}).Draw(t, name)
	}
	return subagent.Report{
		TaskSessionID: sessionID, TaskID: taskID,
		TurnID: text("turn", "turn-1", "turn-2"), ExecutionID: text("execution", "e1", "e2"),
		ToolCallID: rapid.SampledFrom([]string{"c1", "c2"}).Draw(t, "call"), ParentToolCallID: text("parent", "p1", "p2"),
		ToolStatus: text("status", "pending", "in_progress", "completed", "failed"),
		ObservedAt: start.Add(time.Duration(rapid.IntRange(1, 1_000_000).Draw(t, "observed")) * time.Microsecond),
		Payload: subagent.Payload{
			Description: text("description", "d1", "d2"), SubagentType: text("type", "t1", "t2"), Status: text("agent status", "a", "b"),
			AgentID: text("agent", "a1", "a2"), Model: text("model", "m1", "m2"), ChildSessionID: text("child", "s1", "s2"),
			DurationMS: number("duration"), TotalTokens: number("tokens"), ToolUseCount: number("uses"),
			IsAsync: rapid.Bool().Draw(t, "async"),
		},
	}
}

// contextModel records random batches in turn: the rows equal the model in every
// column (QU-23).
func contextModel(t *testing.T, w *contextWorld) {
	rapid.Check(t, func(rt *rapid.T) {
		of, model := w.mainIn("/w"), &ContextModel{}
		other := subagent.NewRecorder(model, w.clock, slog.New(slog.DiscardHandler), &FrameCounts{})
		for range rapid.IntRange(1, 4).Draw(rt, "batches") {
			var frames []subagent.Report
			for range rapid.IntRange(1, 6).Draw(rt, "frames") {
				frames = append(frames, drawFrame(rt, of.ID, w.taskID))
			}
			w.recorder.Record(t.Context(), frames)
			other.Record(t.Context(), frames)
		}
		want, _ := model.ContextRows(t.Context(), of.ID)
		if diff := cmp.Diff(want, w.contextsOf(rt, of.ID), cmpopts.IgnoreFields(subagent.Context{}, "ID", "UpdatedAt")); diff != "" {
			rt.Errorf("rows (-model +store):\n%s", diff)
		}
	})
}

func contextDeletes(t *testing.T, w *contextWorld) {
	turn := w.turn(w.main)
	w.recorder.Record(t.Context(), []subagent.Report{{TaskSessionID: w.main.ID, TaskID: w.taskID, TurnID: turn.ID, ToolCallID: "c"}})
	if err := w.sessions.DeleteTurn(t.Context(), w.taskID, turn.ID); err != nil {
		t.Fatal(err)
	}
	if rows := w.contextsOf(t, w.main.ID); len(rows) != 1 || *rows[0].TurnID != turn.ID {
		t.Errorf("after its turn: %+v", rows)
	}
	if err := w.lifecycle().DeleteSession(t.Context(), w.taskID, w.main.ID); err != nil {
		t.Fatal(err)
	}
	if rows := w.contextsOf(t, w.main.ID); len(rows) != 0 {
		t.Errorf("after its session: %+v", rows)
	}
	w.recorder.Record(t.Context(), []subagent.Report{{TaskSessionID: w.main.ID, TaskID: w.taskID, ToolCallID: "c"}})
	if got := w.counts.All(); got[subagent.RecordFailed] != 1 || got[subagent.RecordPersisted] != 1 {
		t.Errorf("counted %v", got)
	}
}

func contextExecutions(t *testing.T, w *contextWorld) {
	frame := func(execution, status, model string, tokens int64) subagent.Report {
		return subagent.Report{
			TaskSessionID: w.main.ID, TaskID: w.taskID, ExecutionID: execution, ToolCallID: "call_0", ToolStatus: status,
			ObservedAt: start, Payload: subagent.Payload{Model: model, TotalTokens: &tokens},
		}
	}
	of := func(execution string) subagent.Context {
		for _, row := range w.contextsOf(t, w.main.ID) {
			if row.AgentExecutionID == execution {
				return row
			}
		}
		t.Fatalf("no row of %s", execution)
		return subagent.Context{}
	}
	w.recorder.Record(t.Context(), []subagent.Report{frame("earlier", "in_progress", "m", 1)})
	w.recorder.Record(t.Context(), []subagent.Report{frame("later", "in_progress", "m", 2)})
	before := of("later")
	w.recorder.Record(t.Context(), []subagent.Report{frame("earlier", "completed", "m2", 3)})
	w.recorder.Record(t.Context(), []subagent.Report{frame("", "failed", "m3", 4)})
	if diff := cmp.Diff(before, of("later")); diff != "" {
		t.Errorf("the later execution changed:\n%s", diff)
	}
	if row := of("earlier"); *row.ToolStatus != "completed" || *row.Model != "m2" || *row.TotalTokens != 3 {
		t.Errorf("the earlier one is %+v", row)
	}
	if row := of(subagent.UnknownExecution); *row.TotalTokens != 4 { // SC-22
		t.Errorf("the unknown one is %+v", row)
	}
}

// contextFailures takes the table away: all messages are stored, and every frame is
// counted as failed.
func contextFailures(t *testing.T, w *contextWorld) {
	if err := w.store.BreakContexts(t.Context()); err != nil {
		t.Fatal(err)
	}
	const n = 50
	var batch []frameText
	for i := range n {
		batch = append(batch, frameText{"frame": "tool_call", "tool_call_id": strconv.Itoa(i), "normalized": subagentTask(nil)})
	}
	for i, r := range w.tell(t, w.main, batch...) {
		if r.Outcome != history.FrameCreated || r.Seq != int64(i+1) {
			t.Errorf("frame %d is %+v", i, r)
		}
	}
	if page := w.read(t, w.main, history.PageQuery{Limit: new(200)}); len(page.Messages) != n {
		t.Errorf("%d messages are stored", len(page.Messages))
	}
	want := map[subagent.RecordOutcome]int{
		subagent.RecordAttempted: n, subagent.RecordFailed: n, subagent.RecordUnknownExecution: n,
		subagent.RecordPersisted: 0, subagent.RecordSkippedNoIdentity: 0, subagent.RecordAnomalousValue: 0,
	}
	if diff := cmp.Diff(want, w.counts.All()); diff != "" {
		t.Errorf("counters:\n%s", diff)
	}
}

// contextsOfHalves: the kind and the payload of a call come in two frames. The message
// then tells of an invocation, so there is a context, with all that was told.
func contextsOfHalves(t *testing.T, w *contextWorld) {
	turn := w.turn(w.main)
	kind, payload := frameText{"kind": "subagent_task"}, frameText{"kind": "", "subagent_task": frameText{"model": "m"}}
	for i, halves := range [][]frameText{{kind, payload}, {payload, kind}} {
		call := strconv.Itoa(i)
		w.tell(t, w.main, frameText{
			"frame": "tool_call", "tool_call_id": call, "status": "completed", "turn_id": turn.ID, "parent_tool_call_id": "p", "normalized": halves[0],
		})
		if got := w.counts.All(); got[subagent.RecordAttempted] != i {
			t.Errorf("half a call counted: %v", got)
		}
		w.tell(t, w.main, frameText{"frame": "tool_call_update", "tool_call_id": call, "normalized": halves[1]})
	}
	rows := w.contextsOf(t, w.main.ID)
	for _, row := range rows {
		if row.SettledAt == nil || row.Model == nil || *row.Model != "m" || row.TurnID == nil || row.ParentToolCallID == nil {
			t.Errorf("row is %+v", row)
		}
	}
	if got := w.counts.All(); len(rows) != 2 || got[subagent.RecordAttempted] != 2 || got[subagent.RecordPersisted] != 2 {
		t.Errorf("%d rows, counted %v", len(rows), got)
	}
}

// contextsOfFrames: what leaves a context, and what counts nowhere.
func contextsOfFrames(t *testing.T, w *contextWorld) {
	turn := w.turn(w.main)
	observed := start.Add(-time.Hour)
	w.tell(t, w.main,
		frameText{"frame": "tool_call", "tool_call_id": "edit", "normalized": frameText{"kind": "edit", "subagent_task": frameText{}}},
		frameText{"frame": "tool_call", "tool_call_id": "bare", "normalized": frameText{"kind": "subagent_task"}},
		frameText{"frame": "tool_call", "tool_call_id": "wrong", "normalized": frameText{"kind": "subagent_task", "subagent_task": 5}},
		frameText{"frame": "tool_call", "tool_call_id": "case", "normalized": frameText{"Kind": "subagent_task", "Subagent_Task": frameText{}}},
		frameText{"frame": "tool_call", "tool_call_id": "", "execution_id": "e", "normalized": subagentTask(nil)},
		frameText{
			"frame": "tool_call_update", "tool_call_id": "task", "execution_id": "e", "turn_id": turn.ID, "status": "completed",
			"observed_at": observed, "parent_tool_call_id": "p", "normalized": subagentTask(frameText{
				"Model": "no", "model": "m", "total_tokens": 1e3, "tool_use_count": -2, "duration_ms": "5", "is_async": 1, "description": 7,
			}),
		})
	rows := w.contextsOf(t, w.main.ID)
	want := subagent.Context{
		TaskSessionID: w.main.ID, TaskID: w.taskID, TurnID: &turn.ID, AgentExecutionID: "e", ToolCallID: "task",
		ParentToolCallID: new("p"), Model: new("m"), TotalTokens: new(int64(1000)), IsAsync: true,
		ToolStatus: new("completed"), Source: subagent.SourceLive, ObservedAt: observed, SettledAt: &observed,
	}
	if diff := cmp.Diff([]subagent.Context{want}, rows, cmpopts.IgnoreFields(subagent.Context{}, "ID", "UpdatedAt")); diff != "" {
		t.Errorf("rows:\n%s", diff)
	}
	if got := w.counts.All(); got[subagent.RecordAttempted] != 2 || got[subagent.RecordSkippedNoIdentity] != 1 || got[subagent.RecordAnomalousValue] != 1 {
		t.Errorf("counted %v", got)
	}
	if _, ok := domain.ParseID(rows[0].ID); !ok {
		t.Errorf("id is %q", rows[0].ID)
	}
}
