package importer_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// Every run of a subagent leaves a context of the session that called it, with the
// transcript's times and what it reported (HI-33, SC-1).
func TestImportedContexts(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		for name, want := range map[string]map[string]int{
			"experiments-worktrees":    {"contexts": 6, "agent": 6, "usage": 6, "model": 6},
			"async-agents":             {"contexts": 8, "agent": 8, "async": 8},
			"src-deep-manifest":        {"contexts": 1, "agent": 1, "usage": 1, "model": 1},
			"src-experiments-claude_p": {"contexts": 1, "agent": 1, "usage": 1, "model": 1},
			"inline-sidechain":         {"contexts": 1, "usage": 1, "model": 1},
		} {
			t.Run(name, func(t *testing.T) {
				w := fresh()
				w.load(t, sample(name))
				got, counts := w.work(t), map[string]int{}
				for _, s := range got.Sessions {
					for i, e := range got.Executions[s.ID] {
						c := contextOf(t, got.Contexts[s.ID], *e.ParentToolCallID)
						count(counts, c)
						if s.Kind != session.KindMain || i >= len(got.Contexts[s.ID]) {
							t.Errorf("a context of %s", s.Kind)
						}
						checkContext(t, c, e)
					}
				}
				if diff := cmp.Diff(want, counts); diff != "" {
					t.Errorf("contexts (-want +got):\n%s", diff)
				}
				if failed := w.counted.All()[subagent.RecordFailed]; failed != 0 {
					t.Errorf("%d frames failed", failed)
				}
			})
		}
	})
}

func contextOf(t *testing.T, contexts []subagent.Context, call string) subagent.Context {
	t.Helper()
	for _, c := range contexts {
		if c.ToolCallID == call {
			return c
		}
	}
	t.Fatalf("no context of call %s", call)
	return subagent.Context{}
}

func count(counts map[string]int, c subagent.Context) {
	for fact, holds := range map[string]bool{
		"contexts": true, "async": c.IsAsync, "agent": c.AgentID != nil, "model": c.Model != nil, "nested": c.ParentToolCallID != nil,
		"usage": c.TotalTokens != nil && c.ToolUseCount != nil && c.DurationMS != nil,
	} {
		if holds {
			counts[fact]++
		}
	}
}

// checkContext compares a context with the run it tells of.
func checkContext(t *testing.T, c subagent.Context, e subagent.Execution) {
	t.Helper()
	switch {
	case c.Source != subagent.SourceLive || c.AgentExecutionID != subagent.UnknownExecution || c.TaskID != e.TaskID:
	case c.TurnID == nil || c.Description == nil || c.SubagentType == nil || c.ChildSessionID == nil || *c.ChildSessionID != e.ChildSessionID:
	case !c.ObservedAt.Equal(e.StartedAt) || c.SettledAt == nil || !c.SettledAt.Equal(*e.EndedAt):
	case c.ToolStatus == nil || *c.ToolStatus != string(e.Status) || *c.AgentStatus != string(e.Status):
	default:
		return
	}
	t.Errorf("context %+v of execution %+v", c, e)
}

// Imported history is no sign of a writer that has stopped (SC-41).
func TestImportedHistoryDoesNotAlarm(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		w := fresh()
		w.store.Activate(t.Context())
		w.load(t, sample("experiments-worktrees"))
		h, err := w.contexts.Health(t.Context())
		if err != nil || h.Alarms() || *h.Found != (subagent.Findings{}) {
			t.Errorf("%+v, %v", h.Found, err)
		}
	})
}

// failingContexts is a store that is away.
type failingContexts struct{}

// MergeContexts implements subagent.ContextStore.
func (failingContexts) MergeContexts(context.Context, []subagent.Context) error {
	return domain.ErrUnavailable
}

// A context that was not recorded, while the run was, is with the next load.
func TestContextsAreMadeGood(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		w := fresh()
		recorder := w.services.Contexts
		w.services.Contexts = subagent.NewRecorder(failingContexts{}, w.services.Clock.Now, slog.New(slog.DiscardHandler), w.counted)
		w.load(t, sample("inline-sidechain"))
		got := w.work(t)
		if n := len(got.Contexts[got.Sessions[0].ID]); n != 0 || w.counted.All()[subagent.RecordFailed] != 2 {
			t.Fatalf("%d contexts, %v", n, w.counted.All())
		}
		w.services.Contexts = recorder
		w.load(t, sample("inline-sidechain"))
		if got := w.work(t); len(got.Contexts[got.Sessions[0].ID]) != 1 {
			t.Errorf("contexts %+v", got.Contexts)
		}
	})
}
