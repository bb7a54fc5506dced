package claudecode

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

// Six subagents made every change: 10 Edit and 4 Write, of which one went over what
// the same agent had written (HI-32).
func TestSampleSubagentEdits(t *testing.T) {
	r, _ := readSample(t, "experiments-worktrees")
	if r.sessions[0].ID != "ef958aa1-0e93-49f0-bb71-150f63befcd1" {
		t.Errorf("main session %s is not the transcript's", r.sessions[0].ID)
	}
	if got := r.changes(r.sessions[0].ID); len(got) > 0 {
		t.Errorf("the main agent changed %v, want nothing", got)
	}
	got := map[string]map[string]int{}
	for _, s := range r.sessions[1:] {
		got[s.AgentID] = r.changes(s.ID)
		if want := domain.DeriveID(r.sessions[0].ID, s.AgentID); s.ID != want || s.AgentType != "general-purpose" {
			t.Errorf("session of %s: %s of type %q, want %s", s.AgentID, s.ID, s.AgentType, want)
		}
	}
	want := map[string]map[string]int{
		"a4ca7529859c158c2": {"CREATED snapshot": 1, "MODIFIED patch": 4},
		"a52886dc180afb356": {"CREATED snapshot": 1, "MODIFIED patch": 3},
		"ab1e6e141221a29ab": {"CREATED snapshot": 1, "MODIFIED snapshot": 1},
		"a36efb2a1231c41e2": {"MODIFIED patch": 1},
		"aef063ba534d73153": {"MODIFIED patch": 1},
		"a6aa8ad077d9ea083": {"MODIFIED patch": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// Whole texts of main-thread edits follow on one another.
func TestSampleMainEdits(t *testing.T) {
	r, _ := readSample(t, "src-deep-manifest")
	want := map[string]int{"CREATED snapshot": 1, "MODIFIED snapshot": 22}
	if diff := cmp.Diff(want, r.changes(r.sessions[0].ID)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	left := map[string]string{}
	for _, m := range r.messages {
		for _, c := range m.FileChanges {
			if before, ok := left[c.Path]; ok && c.Before != nil && strings.Contains(c.Path, "plans/") && before != *c.Before {
				t.Errorf("%s: the text before is not what the change before left", c.Path)
			}
			left[c.Path] = *c.After
		}
	}
}

// A launch in the background is no end; the news of it is (HI-30).
func TestSampleAsync(t *testing.T) {
	r, _ := readSample(t, "async-agents")
	for _, e := range r.starts {
		end := r.ends[e.ID]
		if !e.Async || !end.At.After(e.At) || end.Metrics != (Metrics{}) {
			t.Errorf("execution of %s: async %v, from %s to %s with %+v", e.AgentID, e.Async, e.At, end.At, end.Metrics)
		}
	}
	if diff := cmp.Diff(map[string]int{"CREATED snapshot": 6}, r.changes(r.sessions[0].ID)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// The eight side-chain lines are three answers, two results and the prompt.
func TestSampleSideChain(t *testing.T) {
	r, _ := readSample(t, "inline-sidechain")
	want := map[string]int{"user message": 1, "assistant message": 3, "tool message": 2}
	if diff := cmp.Diff(want, r.count(r.sessions[1].ID)); diff != "" {
		t.Errorf("messages of the subagent (-want +got):\n%s", diff)
	}
	want = map[string]int{"user message": 1, "assistant message": 2, "tool message": 1}
	if diff := cmp.Diff(want, r.count(r.sessions[0].ID)); diff != "" {
		t.Errorf("messages of the main session (-want +got):\n%s", diff)
	}
	for _, m := range r.of(r.sessions[1].ID) {
		if !m.Settled {
			t.Errorf("message %s of a run that ended is not settled", m.ID)
		}
	}
	end := r.ends[r.starts[0].ID]
	if end.Metrics.TotalTokens == nil || end.Metrics.ToolUses == nil || *end.Metrics.ToolUses != 2 {
		t.Errorf("metrics %+v, want those of the result", end.Metrics)
	}
}

// HI-30: the same files give the same operations.
func TestDeterministic(t *testing.T) {
	for range 2 {
		first, _ := readAll(t, samples)
		second, _ := readAll(t, samples)
		if len(first) != 5 {
			t.Fatalf("%d transcripts, want 5", len(first))
		}
		for i := range first {
			if diff := cmp.Diff(first[i].messages, second[i].messages); diff != "" {
				t.Errorf("messages (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(first[i].starts, second[i].starts); diff != "" {
				t.Errorf("executions (-first +second):\n%s", diff)
			}
		}
	}
}
