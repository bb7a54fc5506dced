package claudecode

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// totals is what a sample is known to hold, as testdata/transcripts/totals.json says.
type totals struct {
	Holds          Summary                   `json:"holds"`
	Delegations    map[string]int            `json:"delegations"`      // by tool
	Async          int                       `json:"async"`            // delegations in the background
	SideChainLines int                       `json:"side_chain_lines"` // within the main file
	Edits          map[string]map[string]int `json:"edits"`            // successful, by agent and tool
}

// knownTotals returns the totals of every sample.
func knownTotals(t testing.TB) map[string]totals {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(samples, "..", "totals.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]totals
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// The table tells of every sample there is.
func TestEverySampleHasTotals(t *testing.T) {
	entries, err := os.ReadDir(samples)
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		folders = append(folders, e.Name())
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(knownTotals(t))), folders); diff != "" {
		t.Errorf("samples (-in the table +in the folder):\n%s", diff)
	}
}

// What each sample is known to hold (HI-30, HI-32, HI-33): every number of the table.
func TestSamples(t *testing.T) {
	for name, want := range knownTotals(t) {
		t.Run(name, func(t *testing.T) {
			r, summary := readSample(t, name)
			want.Holds.Skipped, want.Holds.Problems = skips(), []Problem{}
			got := totals{
				Holds: *summary, Delegations: map[string]int{}, Edits: r.edits(t), SideChainLines: sideChainLines(t, name),
			}
			for _, e := range r.starts {
				got.Delegations[e.Tool]++
				if e.Async {
					got.Async++
				}
				if end := r.ends[e.ID]; end.Status != StateCompleted {
					t.Errorf("execution of %s: %q, want completed", e.AgentID, end.Status)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("totals (-want +got):\n%s", diff)
			}
			if state := r.states[r.sessions[0].ID]; state != StateWaitingForInput {
				t.Errorf("main session: %s", state)
			}
		})
	}
}

// edits counts the file changes by the agent and the tool that made them.
func (r *recorder) edits(t testing.TB) map[string]map[string]int {
	t.Helper()
	agents, counts := map[string]string{}, map[string]map[string]int{}
	for _, s := range r.sessions {
		if agents[s.ID] = s.AgentID; s.Kind == KindMain {
			agents[s.ID] = "main"
		}
	}
	for _, m := range r.messages {
		for _, c := range m.FileChanges {
			at := slices.IndexFunc(m.ToolCalls, func(call ToolCall) bool { return call.ID == c.ToolCallID })
			if at < 0 {
				t.Fatalf("a change of %s hangs on a message that did not call it", c.Path)
			}
			agent := agents[m.SessionID]
			if counts[agent] == nil {
				counts[agent] = map[string]int{}
			}
			counts[agent][m.ToolCalls[at].Name]++
		}
	}
	return counts
}

// sideChainLines counts the lines of a main file that a subagent's thread is told from.
func sideChainLines(t testing.TB, name string) (n int) {
	t.Helper()
	found, err := Discover([]string{filepath.Join(samples, name)})
	if err != nil {
		t.Fatal(err)
	}
	f, closeFile, err := openFile(found[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile() //nolint:errcheck // it was read only
	chains := newSideChains()
	for rec, err := range f.records(MaxLine, silence) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.IsSidechain {
			chains.add(rec)
		}
	}
	for _, c := range chains.chains {
		n += len(c.lines)
	}
	return n
}
