package subagent_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/storetest"
	"gatehouse/domain/subagent"
)

// The published cases, on the merge in plain words: what a frame is normalized to, and
// what is counted of it.
func TestContextCases(t *testing.T) {
	for _, c := range storetest.ContextCases(t, "../../testdata/cases/subagent-upsert.json") {
		t.Run(c.Name, func(t *testing.T) {
			model, counts := &storetest.ContextModel{}, &storetest.FrameCounts{}
			recorder := subagent.NewRecorder(model, domain.SystemClock, slog.New(slog.DiscardHandler), counts)
			var frames []subagent.Report
			for _, f := range c.Frames {
				frames = append(frames, f.Report(t, "S1", "T1"))
			}
			recorder.Record(t.Context(), frames)
			rows, _ := model.ContextRows(t.Context(), "S1")
			if diff := cmp.Diff(c.Rows, storetest.CaseRows(rows)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.Counters, counts.All()); diff != "" {
				t.Errorf("counters (-want +got):\n%s", diff)
			}
		})
	}
}

// merger is a store that does what it is told.
type merger func(ctx context.Context, contexts []subagent.Context) error

// MergeContexts implements subagent.ContextStore.
func (m merger) MergeContexts(ctx context.Context, contexts []subagent.Context) error {
	return m(ctx, contexts)
}

func frameOf(call string) subagent.Report {
	return subagent.Report{TaskSessionID: "S", TaskID: "T", ExecutionID: "e", ToolCallID: call}
}

// SC-14: whatever the store does, the caller goes on, in a time that is bounded, and
// every frame is counted and named in the log.
func TestRecorderBreaksNothing(t *testing.T) {
	for name, store := range map[string]merger{
		"fails":  func(context.Context, []subagent.Context) error { return errors.New("no such table") },
		"panics": func(context.Context, []subagent.Context) error { panic("prompt text") },
		"hangs":  func(ctx context.Context, _ []subagent.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				counts := &storetest.FrameCounts{}
				recorder := subagent.NewRecorder(store, domain.SystemClock, slog.New(slog.NewTextHandler(&log, nil)), counts)
				ctx, cancel := context.WithCancel(t.Context())
				cancel() // the caller is gone: that ends nothing
				began := time.Now()
				recorder.Record(ctx, []subagent.Report{frameOf("c1"), frameOf(""), frameOf("c2")})
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("took %s", took)
				}
				want := map[subagent.RecordOutcome]int{
					subagent.RecordAttempted: 3, subagent.RecordFailed: 2, subagent.RecordSkippedNoIdentity: 1,
					subagent.RecordPersisted: 0, subagent.RecordAnomalousValue: 0, subagent.RecordUnknownExecution: 0,
				}
				if diff := cmp.Diff(want, counts.All()); diff != "" {
					t.Errorf("counters:\n%s", diff)
				}
				for _, words := range []string{"session_id=S tool_call_id=c1", "session_id=S tool_call_id=c2"} {
					if !strings.Contains(log.String(), words) || strings.Count(log.String(), "level=WARN") != 2 || strings.Contains(log.String(), "prompt text") {
						t.Errorf("log is %s", log.String())
					}
				}
			})
		})
	}
}

// SC-12: rows are merged in the order of their keys, those of one key as they came.
func TestRecorderOrder(t *testing.T) {
	var got []string
	store := merger(func(_ context.Context, contexts []subagent.Context) error {
		for _, c := range contexts {
			got = append(got, c.TaskSessionID+c.AgentExecutionID+c.ToolCallID+*c.Model)
		}
		return nil
	})
	var frames []subagent.Report
	for _, key := range []string{"S2 e1 c1 1", "S1 e2 c1 2", "S1 e1 c2 3", "S1 e1 c1 4", "S1 e1 c2 5", "S1 e1 c1 6"} {
		parts := strings.Fields(key)
		frames = append(frames, subagent.Report{
			TaskSessionID: parts[0], TaskID: "T", ExecutionID: parts[1], ToolCallID: parts[2], Payload: subagent.Payload{Model: parts[3]},
		})
	}
	subagent.NewRecorder(store, domain.SystemClock, slog.New(slog.DiscardHandler), &storetest.FrameCounts{}).Record(t.Context(), frames)
	want := []string{"S1e1c14", "S1e1c16", "S1e1c23", "S1e1c25", "S1e2c12", "S2e1c11"}
	if !slices.Equal(got, want) {
		t.Errorf("order is %v, want %v", got, want)
	}
}

// SC-5, SC-7, SC-8, SC-31: how values are read that senders write in many ways.
func TestPayload(t *testing.T) {
	for name, c := range map[string]struct {
		normalized string
		ok         bool
		want       subagent.Payload
	}{
		"another kind":    {`{"kind":"edit","subagent_task":{}}`, false, subagent.Payload{}},
		"no payload":      {`{"kind":"subagent_task"}`, false, subagent.Payload{}},
		"null payload":    {`{"kind":"subagent_task","subagent_task":null}`, false, subagent.Payload{}},
		"another type":    {`["subagent_task"]`, false, subagent.Payload{}},
		"names are exact": {`{"kind":"subagent_task","subagent_task":{"Model":"m","MODEL":"n"}}`, true, subagent.Payload{}},
		"other types are not reported": {
			`{"kind":"subagent_task","subagent_task":{"model":1,"agent_id":null,"status":["x"],"total_tokens":"5","is_async":"true"}}`,
			true,
			subagent.Payload{},
		},
		"integral by value": {
			`{"kind":"subagent_task","subagent_task":{"total_tokens":1e3,"tool_use_count":2.0,"duration_ms":1.5,"is_async":1}}`,
			true,
			subagent.Payload{TotalTokens: new(int64(1000)), ToolUseCount: new(int64(2)), IsAsync: true},
		},
		"one is true in any form": {`{"kind":"subagent_task","subagent_task":{"is_async":1.0}}`, true, subagent.Payload{IsAsync: true}},
		"two is not true":         {`{"kind":"subagent_task","subagent_task":{"is_async":2}}`, true, subagent.Payload{}},
		"beyond 64 bits": {
			`{"kind":"subagent_task","subagent_task":{"total_tokens":9223372036854775808,"tool_use_count":1e400,"duration_ms":-1e400}}`,
			true,
			subagent.Payload{DurationMS: new(int64(-1))},
		},
		"negative": {
			`{"kind":"subagent_task","subagent_task":{"total_tokens":-0.5,"tool_use_count":-7,"duration_ms":-0}}`,
			true,
			subagent.Payload{TotalTokens: new(int64(-1)), ToolUseCount: new(int64(-7)), DurationMS: new(int64(0))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := domain.ParseJSON([]byte(c.normalized))
			if err != nil {
				t.Fatal(err)
			}
			got, ok := subagent.PayloadOf(v)
			if diff := cmp.Diff(c.want, got); ok != c.ok || diff != "" {
				t.Errorf("%v\n%s", ok, diff)
			}
		})
	}
}
