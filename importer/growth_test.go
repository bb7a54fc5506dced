package importer_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// lasting is w without what tells one way to the same end from another: ids that are
// drawn, and the times and numbers of the changes that led there.
func (w work) lasting() work {
	w.Task.ChangeSeq, w.Task.TaskSeq, w.Task.UpdatedAt = 0, 0, time.Time{}
	w.Task.WorkspaceID, w.Task.CreateFingerprint = "", ""
	for i := range w.Sessions {
		s := &w.Sessions[i]
		s.IncarnationID, s.UpdatedAt, s.CreateFingerprint = "", time.Time{}, ""
		s.QueueSeq, s.MessagesSeq, s.ExecutionsSeq, s.InterruptSeq = 0, 0, 0, 0
	}
	slices.SortFunc(w.Sessions, func(a, b session.Session) int { return strings.Compare(a.ID, b.ID) })
	for _, messages := range w.Messages {
		for i := range messages {
			messages[i].UpdatedAt = time.Time{}
			for j := range messages[i].FileChanges {
				messages[i].FileChanges[j].ID = ""
			}
		}
	}
	for _, executions := range w.Executions {
		for i := range executions {
			executions[i].UpdatedAt = time.Time{}
		}
		slices.SortFunc(executions, func(a, b subagent.Execution) int { return strings.Compare(a.ID, b.ID) })
	}
	for _, contexts := range w.Contexts {
		for i := range contexts {
			contexts[i].ID, contexts[i].UpdatedAt = "", time.Time{}
		}
	}
	return w
}

// HI-30: a file that is loaded as it grows ends like one that is loaded at once.
func TestGrownFile(t *testing.T) {
	for name, main := range map[string]string{
		"inline-sidechain":         "task_non_sdk.jsonl",
		"src-experiments-claude_p": "29ccd257-68b1-427f-ae5f-6524b7cb6f20.jsonl",
		"experiments-worktrees":    "ef958aa1-0e93-49f0-bb71-150f63befcd1.jsonl",
		"async-agents":             "10e13fce67.jsonl",
		"src-deep-manifest":        "a7da6a22-facc-4fcd-8bab-f83c87862004.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(sample(name), main))
			if err != nil {
				t.Fatal(err)
			}
			each(t, func(t *testing.T, fresh func() *world) {
				w := fresh()
				w.load(t, sample(name))
				want := w.work(t).lasting()

				folder := t.TempDir()
				if err := os.CopyFS(folder, os.DirFS(sample(name))); err != nil {
					t.Fatal(err)
				}
				w = fresh()
				for _, cut := range cuts(text, 3) {
					if err := os.WriteFile(filepath.Join(folder, main), text[:cut], 0o600); err != nil {
						t.Fatal(err)
					}
					if result := w.load(t, folder); !result.Complete() {
						t.Fatalf("cut behind %d bytes: %+v", cut, result.Problems)
					}
				}
				if diff := cmp.Diff(want, w.work(t).lasting()); diff != "" {
					t.Errorf("at once (-) and as it grew (+):\n%s", diff)
				}
			})
		})
	}
}

// cuts are n places to cut a text, behind lines and within them, and its end.
func cuts(text []byte, n int) []int {
	var ends []int
	at := 0
	for l := range bytes.Lines(text) {
		at += len(l)
		ends = append(ends, at)
	}
	var places []int
	for i := range n {
		end := ends[i*len(ends)/n]
		if i%3 == 0 {
			end -= 2
		}
		places = append(places, end)
	}
	return append(places, len(text))
}

// A call that has no result yet runs: it stays so until a grown file tells its end,
// and then its changes show (HI-3).
func TestRunningSubagent(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(sample("experiments-worktrees"))); err != nil {
			t.Fatal(err)
		}
		main := filepath.Join(folder, "ef958aa1-0e93-49f0-bb71-150f63befcd1.jsonl")
		text, err := os.ReadFile(main)
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := bytes.Cut(text, []byte(`"totalToolUseCount"`)) // of the first result
		if err := os.WriteFile(main, before[:bytes.LastIndexByte(before, '\n')+1], 0o600); err != nil {
			t.Fatal(err)
		}
		w := fresh()
		w.load(t, folder)
		states, shown := counted(w.work(t))
		if states["running"] == 0 || states["completed"] != 0 || shown != 0 {
			t.Errorf("before any result: sessions %v, %d changes shown", states, shown)
		}
		if err := os.WriteFile(main, text, 0o600); err != nil {
			t.Fatal(err)
		}
		w.load(t, folder)
		states, shown = counted(w.work(t))
		want := map[string]int{"waiting_for_input": 1, "completed": 6}
		if diff := cmp.Diff(want, states); diff != "" || shown != 14 {
			t.Errorf("%d changes shown, sessions (-want +got):\n%s", shown, diff)
		}
	})
}

// counted counts sessions by their state, and the changes that the main one shows.
func counted(got work) (states map[string]int, shown int) {
	states = map[string]int{}
	for _, s := range got.Sessions {
		states[string(s.State)]++
		if s.Kind == session.KindMain {
			for _, m := range got.Messages[s.ID] {
				shown += len(m.FileChanges)
			}
		}
	}
	return states, shown
}

// A person's correction of a message, a rollback and a session that works again
// outlive a second load.
func TestEditedTranscript(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		w := fresh()
		w.load(t, sample("inline-sidechain"))
		got := w.work(t)
		main := got.Sessions[0].ID
		if _, err := w.history.EditMessage(t.Context(), got.Task.ID, got.Messages[main][0].ID, history.Edit{Content: new("hidden")}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.history.Rollback(t.Context(), got.Task.ID, main, 3); err != nil {
			t.Fatal(err)
		}
		if _, err := w.sessions.Update(t.Context(), got.Task.ID, main, session.Patch{State: new(session.StateRunning)}); err != nil {
			t.Fatal(err)
		}
		before := w.work(t)
		if result := w.load(t, sample("inline-sidechain")); !result.Complete() || result.Added.Messages != 0 {
			t.Errorf("added %+v, problems %v", result.Added, result.Problems)
		}
		if diff := cmp.Diff(before, w.work(t)); diff != "" {
			t.Errorf("the second load wrote (-before +after):\n%s", diff)
		}
	})
}
