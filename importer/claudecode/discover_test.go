package claudecode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Sessions are found in folders and by name, each once, with the subagents of their
// own folder; what else lies about is left alone.
func TestDiscover(t *testing.T) {
	folder := write(t, map[string]string{
		"p/one.jsonl":                             "1234",
		"p/one/subagents/agent-b.jsonl":           "12",
		"p/one/subagents/agent-b.meta.json":       `{"agentType":"helper","toolUseId":"c1"}`,
		"p/one/subagents/wf/agent-a.jsonl":        "1",
		"p/one/subagents/wf/journal.jsonl":        "x",
		"p/one/subagents/agent-acompact-1.jsonl":  "x",
		"p/one/subagents/agent-b c.jsonl":         "x",
		"p/one/tool-results/output.txt":           "x",
		"p/agent-beside.jsonl":                    "x",
		"q/two.jsonl":                             "",
		"q/agent-c.meta.json":                     "{",
		"q/two/subagents/agent-c.jsonl":           "x",
		"q/two/subagents/agent-c.meta.json":       "{",
		"q/two/subagents/agent-d.jsonl/nope.json": "",
	})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(folder, "p"), link); err != nil {
		t.Fatal(err)
	}
	found, err := Discover([]string{filepath.Join(folder, "q", "two.jsonl"), folder, link})
	if err != nil {
		t.Fatal(err)
	}
	type transcript struct {
		Path   string
		Size   int64
		Agents []string
	}
	var got []transcript
	for _, f := range found {
		path, err := filepath.Rel(folder, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		tr := transcript{Path: path, Size: f.Size}
		for _, a := range f.agents {
			tr.Agents = append(tr.Agents, a.id+" "+a.meta.AgentType)
		}
		got = append(got, tr)
	}
	want := []transcript{{"q/two.jsonl", 1, []string{"c "}}, {"p/one.jsonl", 7, []string{"a ", "b helper"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transcripts (-want +got):\n%s", diff)
	}
	if _, err := Discover([]string{filepath.Join(folder, "missing")}); err == nil {
		t.Error("a path that is not there: no error")
	}
}

// A folder that the system does not let be looked into is named, and what is beside it
// is found all the same (HI-31).
func TestClosedFolders(t *testing.T) {
	s := &script{}
	folder := write(t, map[string]string{
		testSession + ".jsonl":                    text(s.prompt("go")),
		testSession + "/subagents/agent-a1.jsonl": "",
		"a/other.jsonl":                           text(s.prompt("go")),
	})
	deepen(t, filepath.Join(folder, "a"))
	deepen(t, filepath.Join(folder, testSession, "subagents"))
	recorders, summary := make([]*recorder, 0), NewSummary()
	found, err := Discover([]string{folder})
	if err != nil {
		t.Fatal(err)
	}
	var failed int
	for _, f := range found {
		r := newRecorder(t)
		if err := Read(t.Context(), f, r, summary, nil); err != nil {
			failed++
			continue
		}
		recorders = append(recorders, r)
	}
	if len(recorders) != 2 || failed != 1 || summary.Skipped[ReasonUnreadable] != 2 || summary.Messages != 2 {
		t.Errorf("%d read, %d failed, %d messages, skipped %v", len(recorders), failed, summary.Messages, summary.Skipped)
	}
}

// deepen makes folders in folders until their path is too long for the system, which
// then lets nobody look into the last ones, whoever asks.
func deepen(t *testing.T, folder string) {
	t.Helper()
	at, err := os.OpenRoot(folder)
	for range 20 {
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Repeat("d", 250)
		if err := at.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		above := at
		at, err = above.OpenRoot(name)
		if err := above.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := at.Close(); err != nil {
		t.Fatal(err)
	}
}
