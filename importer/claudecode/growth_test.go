package claudecode

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// HI-30: whatever line a file was cut behind, the whole file gives what the cut one
// gave, at the same place, and more behind it; only what was not settled grows.
func TestGrownFile(t *testing.T) {
	for name, main := range map[string]string{
		"inline-sidechain":         "task_non_sdk.jsonl",
		"src-experiments-claude_p": "29ccd257-68b1-427f-ae5f-6524b7cb6f20.jsonl",
		"experiments-worktrees":    "ef958aa1-0e93-49f0-bb71-150f63befcd1.jsonl",
		"async-agents":             "10e13fce67.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			whole, _ := readSample(t, name)
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(filepath.Join(samples, name))); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(samples, name, main))
			if err != nil {
				t.Fatal(err)
			}
			cut, lines := 0, 0
			for l := range bytes.Lines(text) {
				cut += len(l)
				if lines++; lines%2 == 0 && len(text) > 200<<10 { // every other cut of a long one will do
					continue
				}
				if err := os.WriteFile(filepath.Join(folder, main), text[:cut], 0o600); err != nil {
					t.Fatal(err)
				}
				grown, _ := readAll(t, folder)
				checkGrowth(t, grown[0], whole)
			}
		})
	}
}

func checkGrowth(t *testing.T, cut, whole *recorder) {
	t.Helper()
	for _, s := range cut.sessions {
		before, after := cut.of(s.ID), whole.of(s.ID)
		if len(before) > len(after) {
			t.Fatalf("session of %q: %d messages became %d", s.AgentID, len(before), len(after))
		}
		for i, m := range before {
			checkMessage(t, m, after[i])
		}
	}
	known := map[string]ExecutionStart{}
	for _, e := range whole.starts {
		known[e.ID] = e
	}
	for _, e := range cut.starts {
		want := known[e.ID]
		want.Async, want.Place.File = e.Async, e.Place.File // the answer tells it; the files stand elsewhere
		if diff := cmp.Diff(want, e); diff != "" {
			t.Fatalf("execution (-whole +cut):\n%s", diff)
		}
		if end, ended := cut.ends[e.ID]; ended {
			if diff := cmp.Diff(whole.ends[e.ID], end); diff != "" {
				t.Fatalf("end of execution (-whole +cut):\n%s", diff)
			}
		}
	}
}

// checkMessage compares a message of a cut file with what became of it.
func checkMessage(t *testing.T, cut, whole Message) {
	t.Helper()
	if !cut.Settled {
		calls, changes := len(cut.ToolCalls), len(cut.FileChanges)
		grown := strings.HasPrefix(whole.Content, cut.Content) && strings.HasPrefix(whole.Thinking, cut.Thinking) &&
			len(whole.ToolCalls) >= calls && len(whole.FileChanges) >= changes
		if !grown || !slices.Equal(cut.ToolCalls, whole.ToolCalls[:calls]) ||
			changes > 0 && !cmp.Equal(cut.FileChanges, whole.FileChanges[:changes]) {
			t.Fatalf("message %s lost what it had", cut.ID)
		}
		cut.Content, cut.Thinking, cut.ToolCalls, cut.FileChanges = whole.Content, whole.Thinking, whole.ToolCalls, whole.FileChanges
		cut.Metadata, cut.Settled = whole.Metadata, whole.Settled
	}
	cut.Place.File = whole.Place.File
	if diff := cmp.Diff(whole, cut); diff != "" {
		t.Fatalf("message (-whole +cut):\n%s", diff)
	}
}

// of returns the messages of a session.
func (r *recorder) of(session string) []Message {
	var of []Message
	for _, m := range r.messages {
		if m.SessionID == session {
			of = append(of, m)
		}
	}
	return of
}
