package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// contextWriters records random frames from many writers at once. Whatever their
// order, every key has one row, and its columns are what one of the frames could leave.
func contextWriters(t *testing.T, w *contextWorld) {
	const writers, batches = 20, 3
	of := w.mainIn("/w")
	frames := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) subagent.Report { return drawFrame(rt, of.ID, w.taskID) }), 6*writers*batches, -1).Example(rand.IntN(1 << 30))
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for b := range batches {
				at := 6 * (i*batches + b)
				w.recorder.Record(t.Context(), frames[at:at+6])
			}
		})
	}
	wg.Wait()
	told := frames[:6*writers*batches]
	if got := w.counts.All(); got[subagent.RecordPersisted] != len(told) || got[subagent.RecordAttempted] != len(told) {
		t.Errorf("counted %v of %d frames", got, len(told))
	}
	rows := w.contextsOf(t, of.ID)
	keys := map[[2]string]bool{}
	for _, f := range told {
		keys[[2]string{subagent.ExecutionKey(f.ExecutionID), f.ToolCallID}] = true
	}
	if len(rows) != len(keys) {
		t.Fatalf("%d rows of %d keys", len(rows), len(keys))
	}
	for _, row := range rows {
		wantPossible(t, row, slices.DeleteFunc(slices.Clone(told), func(f subagent.Report) bool {
			return subagent.ExecutionKey(f.ExecutionID) != row.AgentExecutionID || f.ToolCallID != row.ToolCallID
		}))
	}
}

// wantPossible holds a row against the frames of its key, told in an unknown order.
func wantPossible(t *testing.T, row subagent.Context, told []subagent.Report) {
	t.Helper()
	async, settled := false, false
	for _, f := range told {
		async, settled = async || f.Payload.IsAsync, settled || session.ToolSettled(f.ToolStatus)
	}
	of := func(what string, holds bool) {
		if !holds {
			t.Errorf("%s cannot be: %+v", what, row)
		}
	}
	some := func(match func(f subagent.Report) bool) bool { return slices.ContainsFunc(told, match) }
	text := func(what string, got *string, said func(subagent.Report) string) {
		of(what, some(func(f subagent.Report) bool { return said(f) != "" }) == (got != nil))
		of(what, got == nil || some(func(f subagent.Report) bool { return said(f) == *got }))
	}
	of("is_async", row.IsAsync == async)
	of("settled_at", (row.SettledAt != nil) == settled)
	of("settled_at with tool_status", !settled || some(func(f subagent.Report) bool {
		return f.ObservedAt.Equal(*row.SettledAt) && f.ToolStatus == *row.ToolStatus && session.ToolSettled(f.ToolStatus)
	}))
	of("observed_at", some(func(f subagent.Report) bool { return f.ObservedAt.Equal(row.ObservedAt) }))
	text("tool_status", row.ToolStatus, func(f subagent.Report) string { return f.ToolStatus })
	text("turn_id", row.TurnID, func(f subagent.Report) string { return f.TurnID })
	text("model", row.Model, func(f subagent.Report) string { return f.Payload.Model })
	of("total_tokens", (row.TotalTokens != nil) == some(func(f subagent.Report) bool { return f.Payload.TotalTokens != nil && *f.Payload.TotalTokens > 0 }))
	of("tool_use_count", (row.ToolUseCount != nil) == some(func(f subagent.Report) bool { return f.Payload.ToolUseCount != nil && *f.Payload.ToolUseCount >= 0 }))
}

func contextFanOuts(t *testing.T, w *contextWorld) {
	for _, width := range []int{3, 4, 5, 8} {
		of := w.mainIn("/w")
		var wg sync.WaitGroup
		for i := range width {
			wg.Go(func() {
				w.recorder.Record(t.Context(), []subagent.Report{{
					TaskSessionID: of.ID, TaskID: w.taskID, ExecutionID: "e", ToolCallID: fmt.Sprintf("task:%d", i),
					Payload: subagent.Payload{Description: "same", TotalTokens: new(int64(i + 1))},
				}})
			})
		}
		wg.Wait()
		seen := map[string]int64{}
		for _, row := range w.contextsOf(t, of.ID) {
			seen[row.ToolCallID] = *row.TotalTokens
		}
		for i := range width {
			if len(seen) != width || seen[fmt.Sprintf("task:%d", i)] != int64(i+1) {
				t.Errorf("fan-out of %d left %v", width, seen)
			}
		}
	}
}
