package importer_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
	"gatehouse/importer"
)

// each runs f with an empty database of either kind.
func each(t *testing.T, f func(t *testing.T, fresh func() *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		t.Helper()
		f(t, func() *world { return newWorld(t, open(t)) })
	})
}

// All that a sample holds is new the first time, and nothing the second: no row and no
// number of a change moves (HI-30, HI-33).
func TestLoadTwice(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		for name, known := range knownTotals(t) {
			t.Run(name, func(t *testing.T) {
				want := known.Holds
				w := fresh()
				first := w.load(t, sample(name))
				if diff := cmp.Diff(want, first.Added); diff != "" || !first.Complete() {
					t.Errorf("complete %t, added (-want +got):\n%s", first.Complete(), diff)
				}
				held := importer.Added{
					Files: first.Files, Tasks: first.Tasks, Sessions: first.Sessions, Messages: first.Messages,
					FileChanges: first.FileChanges, Executions: first.Executions, Subagents: first.Subagents,
				}
				if diff := cmp.Diff(held, first.Added); diff != "" {
					t.Errorf("held, but not added (-held +added):\n%s", diff)
				}
				before := w.work(t)
				checkEnds(t, before)
				if diff := cmp.Diff(known, before.totals(want.Files)); diff != "" {
					t.Errorf("stored (-want +got):\n%s", diff)
				}
				second := w.load(t, sample(name))
				if diff := cmp.Diff(importer.Added{}, second.Added); diff != "" || second.Messages != first.Messages {
					t.Errorf("second time: %d messages, added (-want +got):\n%s", second.Messages, diff)
				}
				if diff := cmp.Diff(before, w.work(t)); diff != "" {
					t.Errorf("the second time wrote (-before +after):\n%s", diff)
				}
			})
		}
	})
}

// checkEnds checks where everything of a finished sample stands in the end.
func checkEnds(t *testing.T, got work) {
	t.Helper()
	for _, s := range got.Sessions {
		want := session.StateCompleted
		if s.Kind == session.KindMain {
			want = session.StateWaitingForInput
			if got.Task.PrimarySessionID == nil || *got.Task.PrimarySessionID != s.ID {
				t.Errorf("the primary session is not the main one")
			}
		}
		if s.State != want {
			t.Errorf("%s session is %s, want %s", s.Kind, s.State, want)
		}
		for _, turn := range got.Turns[s.ID] {
			if turn.State == session.TurnRunning || turn.EndedAt == nil || turn.EndedAt.Before(turn.StartedAt) {
				t.Errorf("turn %+v has not ended", turn)
			}
		}
		for i, m := range bySeq(got.Messages[s.ID]) {
			if m.Seq != int64(i+1) {
				t.Fatalf("message %d has seq %d", i+1, m.Seq)
			}
		}
		for _, e := range got.Executions[s.ID] {
			if e.Status != subagent.ExecutionCompleted || e.EndMessageSeq == nil || e.EndedAt.Before(e.StartedAt) || e.StartedAt.Year() > 2026 {
				t.Errorf("execution %+v has not completed", e)
			}
		}
	}
}

func bySeq(messages []history.PageMessage) []history.PageMessage {
	return slices.SortedFunc(slices.Values(messages), func(a, b history.PageMessage) int { return int(a.Seq - b.Seq) })
}

// The history of the main session shows what its six subagents changed, each on the
// message that called it, and nothing of its own.
func TestHistoryOfSubagents(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		w := fresh()
		w.load(t, sample("experiments-worktrees"))
		const main = "ef958aa1-0e93-49f0-bb71-150f63befcd1"
		got := w.work(t)
		shown, agents := 0, map[string]int{}
		for _, m := range got.Messages[main] {
			calls := map[string]bool{}
			for _, c := range m.Calls {
				calls[c.ID] = true
			}
			for _, c := range m.FileChanges {
				shown++
				agents[c.SourceSessionID]++
				if c.SourceType != history.SourceSubagent || c.SourceExecutionID == nil || *c.SourceAgentType != "general-purpose" {
					t.Errorf("change of %s by %s", c.Path, c.SourceType)
				}
				at := slices.IndexFunc(got.Executions[main], func(e subagent.Execution) bool { return e.ID == *c.SourceExecutionID })
				if e := got.Executions[main][at]; *e.ParentMessageID != m.ID || !calls[*e.ParentToolCallID] {
					t.Errorf("change of %s stands on a message that did not call for it", c.Path)
				}
			}
		}
		counts := slices.Sorted(maps.Values(agents))
		if diff := cmp.Diff([]int{1, 1, 1, 2, 4, 5}, counts); diff != "" || shown != 14 {
			t.Errorf("%d changes, by agent (-want +got):\n%s", shown, diff)
		}
	})
}

// A session that is elsewhere is named, nothing of the transcript is written, and the
// others go in.
func TestSessionElsewhere(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		w := fresh()
		w.load(t, sample("experiments-worktrees"))
		of, err := w.access.CreateWorkspace(t.Context(), "other")
		if err != nil {
			t.Fatal(err)
		}
		before := w.work(t)
		first := w.workspaceID
		w.workspaceID = of.ID
		result := w.load(t, sample("experiments-worktrees"), sample("inline-sidechain"))
		if result.Complete() || result.Skipped["other_workspace"] != 1 || len(result.Problems) != 1 ||
			result.Added.Messages != 10 || result.Messages != 222 {
			t.Errorf("added %+v, problems %+v", result.Added, result.Problems)
		}
		w.workspaceID = first
		if diff := cmp.Diff(before, w.work(t)); diff != "" {
			t.Errorf("written elsewhere (-before +after):\n%s", diff)
		}
	})
}

// A session that a runner keeps is not mixed with its transcript.
func TestSessionOfAnotherTask(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		w := fresh()
		made, _, err := w.tasks.Create(t.Context(), task.New{WorkspaceID: w.workspaceID, Title: "kept by a runner"})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = w.sessions.Create(t.Context(), session.New{
			ID: "ef958aa1-0e93-49f0-bb71-150f63befcd1", TaskID: made.ID, Kind: session.KindMain,
		})
		if err != nil {
			t.Fatal(err)
		}
		result := w.load(t, sample("experiments-worktrees"))
		if diff := cmp.Diff(importer.Added{}, result.Added); diff != "" || result.Skipped["other_task"] != 1 {
			t.Errorf("skipped %v, added (-want +got):\n%s", result.Skipped, diff)
		}
		if tasks, err := w.tasks.List(t.Context(), task.Filter{}, domain.PageRequest{}); err != nil || len(tasks.Items) != 1 {
			t.Errorf("tasks are %+v, %v", tasks.Items, err)
		}
	})
}
