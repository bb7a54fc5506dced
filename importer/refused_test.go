package importer_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/lifecycle"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
	"gatehouse/importer"
	"gatehouse/importer/claudecode"
)

// HI-31: a message that the domain refuses, since somebody took its id for something
// else, is found in its batch and named by the file and the line that it begins on,
// also one of a subagent; everything else goes in.
func TestConflictingMessage(t *testing.T) {
	for name, files := range map[string][2]string{ // of the main session and of the subagent
		"src-deep-manifest": {"a7da6a22-facc-4fcd-8bab-f83c87862004.jsonl", "agent-c8d9b115.jsonl"},
		"inline-sidechain":  {"task_non_sdk.jsonl", "task_non_sdk.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, fresh func() *world) {
				clean := fresh()
				whole := clean.load(t, sample(name))
				of := clean.work(t)
				var taken []history.NewMessage
				var want []claudecode.Problem
				for i, s := range of.Sessions {
					at := slices.IndexFunc(of.Messages[s.ID], func(m history.PageMessage) bool { return m.Role == session.RoleTool })
					m := of.Messages[s.ID][at]
					taken = append(taken, history.NewMessage{ID: m.ID, Role: session.RoleUser, Content: "mine"})
					path := filepath.Join(sample(name), files[i])
					want = append(want, claudecode.Problem{File: path, Line: lineWith(t, path, `"tool_use_id":"`+*m.ToolCallID), Reason: "message_conflict"})
				}

				w := fresh()
				made, _, err := w.tasks.Create(t.Context(), task.New{WorkspaceID: w.workspaceID, Title: "other"})
				if err != nil {
					t.Fatal(err)
				}
				s, _, err := w.sessions.Create(t.Context(), session.New{TaskID: made.ID, Kind: session.KindMain})
				if err != nil {
					t.Fatal(err)
				}
				if _, err = w.history.Append(t.Context(), made.ID, s.ID, taken); err != nil {
					t.Fatal(err)
				}
				result := w.load(t, sample(name))
				slices.SortFunc(result.Problems, func(a, b claudecode.Problem) int { return a.Line - b.Line })
				slices.SortFunc(want, func(a, b claudecode.Problem) int { return a.Line - b.Line })
				if diff := cmp.Diff(want, result.Problems); diff != "" || result.Complete() || result.Skipped["message_conflict"] != 2 {
					t.Errorf("complete %t, skipped %v, problems (-want +got):\n%s", result.Complete(), result.Skipped, diff)
				}
				if result.Added.Messages != whole.Messages-2 {
					t.Errorf("%d of %d messages", result.Added.Messages, whole.Messages)
				}
			})
		})
	}
}

// lineWith is the first line of a file that holds text.
func lineWith(t *testing.T, path, text string) int {
	t.Helper()
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := bytes.Cut(all, []byte(text))
	if !found {
		t.Fatalf("%s does not hold %s", path, text)
	}
	return bytes.Count(before, []byte("\n")) + 1
}

// HI-31: the message of a delegation that is refused takes its run along, which is named
// by the line of the call, and nothing else: what the subagent said goes in.
func TestRefusedDelegation(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		const name, main = "src-deep-manifest", "a7da6a22-facc-4fcd-8bab-f83c87862004"
		clean := fresh()
		whole := clean.load(t, sample(name))
		run := clean.work(t).Executions[main][0]
		w := fresh()
		made, _, err := w.tasks.Create(t.Context(), task.New{WorkspaceID: w.workspaceID, Title: "other"})
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := w.sessions.Create(t.Context(), session.New{TaskID: made.ID, Kind: session.KindMain})
		if err != nil {
			t.Fatal(err)
		}
		taken := []history.NewMessage{{ID: *run.ParentMessageID, Role: session.RoleUser, Content: "mine"}}
		if _, err = w.history.Append(t.Context(), made.ID, s.ID, taken); err != nil {
			t.Fatal(err)
		}
		result := w.load(t, sample(name))
		path := filepath.Join(sample(name), main+".jsonl")
		at := lineWith(t, path, `"id":"`+*run.ParentToolCallID)
		want := []claudecode.Problem{{File: path, Line: at - 1, Reason: "message_conflict"}, {File: path, Line: at, Reason: "message_not_found"}}
		if diff := cmp.Diff(want, result.Problems); diff != "" || result.Complete() {
			t.Errorf("complete %t, problems (-want +got):\n%s", result.Complete(), diff)
		}
		wanted := whole.Added
		wanted.Messages--
		wanted.Executions--
		if diff := cmp.Diff(wanted, result.Added); diff != "" {
			t.Errorf("added (-want +got):\n%s", diff)
		}
	})
}

// A subagent's session that somebody deleted does not come back, which is named by the
// line of the call; an archived task takes no new one. All else that a file has grown by
// goes in.
func TestDeletedChild(t *testing.T) {
	for _, archived := range []bool{false, true} {
		t.Run(fmt.Sprintf("archived=%t", archived), func(t *testing.T) { deleteChild(t, archived) })
	}
}

func deleteChild(t *testing.T, archived bool) {
	t.Helper()
	each(t, func(t *testing.T, fresh func() *world) {
		const name, main = "experiments-worktrees", "ef958aa1-0e93-49f0-bb71-150f63befcd1"
		folder := t.TempDir()
		texts := readFolder(t, sample(name))
		text := texts[main+".jsonl"]
		writeFolder(t, folder, texts, map[string]int{main + ".jsonl": bytes.LastIndex(text, []byte(`"name":"Agent"`))})
		w := fresh()
		cut := w.load(t, folder)
		before := w.work(t)
		gone := before.Executions[main][0]
		ends := lifecycle.NewService(w.store.Lifecycle(), w.sessions, domain.SystemClock, event.NewAnnouncer(nil, slog.New(slog.DiscardHandler)))
		if err := ends.DeleteSession(t.Context(), before.Task.ID, gone.ChildSessionID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.tasks.Update(t.Context(), before.Task.ID, task.Patch{Archived: &archived}); err != nil {
			t.Fatal(err)
		}

		result := w.load(t, sample(name))
		path := filepath.Join(sample(name), main+".jsonl")
		line := func(call string) int { return lineWith(t, path, `"id":"`+call) }
		want := []claudecode.Problem{{File: path, Line: line(*gone.ParentToolCallID), Reason: "session_conflict"}}
		if archived {
			want[0].Reason = "task_archived"
			want = append(want, claudecode.Problem{File: path, Line: line(newCall(t, before, text)), Reason: "task_archived"})
		}
		if diff := cmp.Diff(want, result.Problems); diff != "" || result.Complete() {
			t.Errorf("complete %t, problems (-want +got):\n%s", result.Complete(), diff)
		}
		clean := fresh()
		clean.load(t, sample(name))
		if diff := cmp.Diff(len(clean.work(t).Messages[main]), len(w.work(t).Messages[main])); diff != "" || result.Added.Messages == 0 {
			t.Errorf("%d messages were there, messages of the main session (-want +got):\n%s", cut.Messages, diff)
		}
	})
}

// newCall is the delegation of a file that a load of less of it did not find.
func newCall(t *testing.T, before work, text []byte) (call string) {
	t.Helper()
	for _, found := range regexp.MustCompile(`"id":"(toolu_[^"]*)","name":"Agent"`).FindAllSubmatch(text, -1) {
		known := func(e subagent.Execution) bool { return *e.ParentToolCallID == string(found[1]) }
		if !slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(before.Executions))...), known) {
			call = string(found[1])
		}
	}
	if call == "" {
		t.Fatal("there is no new one")
	}
	return call
}

// A file that cannot be read any more is named, and the others go in (HI-31).
func TestVanishedFile(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(sample("inline-sidechain"))); err != nil {
			t.Fatal(err)
		}
		found, err := claudecode.Discover([]string{folder, sample("src-experiments-claude_p")})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(found[0].Path); err != nil {
			t.Fatal(err)
		}
		w, result := fresh(), importer.NewResult()
		for _, f := range found {
			if err := importer.NewLoader(w.services, w.workspaceID).Load(t.Context(), f, result, nil); err != nil {
				t.Fatal(err)
			}
		}
		want := []claudecode.Problem{{File: found[0].Path, Reason: claudecode.ReasonUnreadable}}
		if diff := cmp.Diff(want, result.Problems); diff != "" || result.Complete() || result.Added.Messages != 39 {
			t.Errorf("complete %t, added %+v, problems (-want +got):\n%s", result.Complete(), result.Added, diff)
		}
	})
}
