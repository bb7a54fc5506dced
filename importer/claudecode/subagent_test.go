package claudecode

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var side = entry{"isSidechain": true}

func ofAgent(id string) entry { return entry{"isSidechain": true, "agentId": id} }

// runs tells of each execution by which agent, how it ended and how many messages
// it has.
type run struct {
	Agent    string
	Status   State
	Messages int
}

func (r *recorder) runs() []run {
	var runs []run
	for _, e := range r.starts {
		status := r.ends[e.ID].Status
		if status == "" {
			status = StateRunning
		}
		runs = append(runs, run{e.AgentID, status, len(r.of(e.ChildSessionID))})
	}
	return runs
}

func task(prompt string) entry {
	return entry{"prompt": prompt, "description": "do " + prompt, "subagent_type": "helper"}
}

func answered(agent string) entry { return entry{"status": "completed", "agentId": agent} }

// Side chains of parallel calls interleave; each goes to the call with its prompt.
func TestInterleavedSideChains(t *testing.T) {
	s := &script{}
	r, _ := readText(t, text(
		s.prompt("go"), s.calls("m1", "c1", "Task", task("left")), s.calls("m1", "c2", "Task", task("right")),
		s.prompt("right", side, entry{"uuid": "r1"}),
		s.prompt("left", side, entry{"uuid": "l1"}),
		s.says("r", "right answer", side, entry{"uuid": "r2", "parentUuid": "r1"}),
		s.says("l", "left answer", side, entry{"uuid": "l2", "parentUuid": "l1"}),
		s.says("l'", "left again", side, entry{"uuid": "l3", "parentUuid": "l2"}),
		s.answers("c1", "left done", entry{"totalTokens": 7}), s.answers("c2", "Error", "Error: it broke"),
	))
	want := []run{{"c1", StateCompleted, 3}, {"c2", StateFailed, 2}}
	if diff := cmp.Diff(want, r.runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if tokens := r.ends[r.starts[0].ID].Metrics.TotalTokens; tokens == nil || *tokens != 7 {
		t.Errorf("tokens %v, want 7", tokens)
	}
	if state := r.states[r.starts[1].ChildSessionID]; state != StateFailed {
		t.Errorf("session of the failed run: %s", state)
	}
}

// A mirrored line that the agent's own file has too counts once.
func TestMirroredLines(t *testing.T) {
	s := &script{}
	mirror := func(line entry) entry {
		return entry{
			"type": "progress", "parentToolUseID": "c1", "sessionId": testSession,
			"data": entry{"type": "agent_progress", "agentId": "ab12", "message": line},
		}
	}
	ask, reply, late := s.prompt("left"), s.says("a1", "on it"), s.says("a2", "done")
	main := text(s.prompt("go"), s.calls("m1", "c1", "Task", task("left")),
		mirror(ask), mirror(reply), mirror(late), s.answers("c1", "done", answered("ab12")))

	r, _ := readText(t, main)
	if diff := cmp.Diff([]run{{"ab12", StateCompleted, 3}}, r.runs()); diff != "" {
		t.Errorf("runs without a file (-want +got):\n%s", diff)
	}
	with, _ := readFiles(t, map[string]string{
		testSession + ".jsonl":                         main,
		testSession + "/subagents/agent-ab12.jsonl":    text(ask, reply),
		testSession + "/subagents/agent-spare.jsonl":   text(s.prompt("warm up")),
		testSession + "/subagents/workflows/x.jsonl":   "",
		testSession + "/subagents/agent-acompact-x.js": "",
	})
	if diff := cmp.Diff(r.of(r.starts[0].ChildSessionID), with.of(r.starts[0].ChildSessionID), anywhere); diff != "" {
		t.Errorf("messages (-mirrored +with the file):\n%s", diff)
	}
}

// Beside the session only files count that a result names, and only those of the
// session.
func TestFilesBesideTheSession(t *testing.T) {
	s := &script{}
	main := text(s.prompt("go"), s.calls("m1", "c1", "Task", task("left")), s.answers("c1", "done", answered("aaaa")),
		s.calls("m2", "c2", "Task", task("right")), s.answers("c2", "done", answered("bbbb")), s.says("m3", "done"))
	r, summary := readFiles(t, map[string]string{
		testSession + ".jsonl": main,
		"agent-aaaa.jsonl":     text(s.prompt("left", ofAgent("aaaa")), s.says("x", "y", ofAgent("aaaa"))),
		"agent-bbbb.jsonl":     text(s.prompt("right", ofAgent("bbbb"), entry{"sessionId": "another"})),
		"agent-cccc.jsonl":     text(s.prompt("Warmup", ofAgent("cccc"))),
	})
	want := []run{{"aaaa", StateCompleted, 2}, {"bbbb", StateCompleted, 0}}
	if diff := cmp.Diff(want, r.runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if len(summary.Problems) > 0 || summary.Files != 2 {
		t.Errorf("%d files, problems %v, want 2 and none", summary.Files, summary.Problems)
	}
}

// A file of the own folder is linked by the file beside it, by the result, or by a
// prompt that only it has; one that no call leads to is named.
func TestOwnFolder(t *testing.T) {
	s := &script{}
	folder := testSession + "/subagents/"
	nested := text(s.prompt("left", ofAgent("a1")), s.calls("x1", "n1", "Agent", task("deep"), ofAgent("a1")),
		s.answers("n1", "deep done\nagentId: a4 (internal)\n<usage>total_tokens: 12\ntool_uses: 3\nduration_ms: 4</usage>", nil, ofAgent("a1")))
	r, summary := readFiles(t, map[string]string{
		testSession + ".jsonl": text(s.prompt("go"), s.calls("m1", "c1", "Agent", task("left")), s.calls("m1", "c2", "Agent", task("right")),
			s.calls("m1", "c3", "Agent", task("same")), s.calls("m1", "c4", "Agent", task("same"))),
		folder + "agent-a1.jsonl":     nested,
		folder + "agent-a1.meta.json": `{"agentType":"special","toolUseId":"c1"}`,
		folder + "agent-a2.jsonl":     text(s.prompt("right", ofAgent("a2"))),
		folder + "agent-a3.jsonl":     text(s.prompt("same", ofAgent("a3"))),
		folder + "agent-a4.jsonl":     text(s.prompt("deep", ofAgent("a4")), s.says("d", "deep answer", ofAgent("a4"))),
	})
	want := []run{{"a1", StateRunning, 3}, {"a4", StateCompleted, 2}, {"a2", StateRunning, 1}}
	if diff := cmp.Diff(want, r.runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(skips(ReasonUnlinked), summary.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	deep := r.starts[1]
	if deep.ParentSessionID != r.starts[0].ChildSessionID || *r.ends[deep.ID].Metrics.TotalTokens != 12 {
		t.Errorf("nested run %+v, want it under the subagent that called it, with 12 tokens", deep)
	}
	if r.starts[0].AgentType != "special" || r.starts[2].AgentType != "helper" {
		t.Errorf("types %q and %q", r.starts[0].AgentType, r.starts[2].AgentType)
	}
}

// HI-30: a launch is not done until its notification, or the answer to a question
// about it, says so.
func TestBackgroundRuns(t *testing.T) {
	launched := func(agent string) entry {
		return entry{"isAsync": true, "status": "async_launched", "agentId": agent, "totalTokens": 0}
	}
	note := func(agent, status string) string {
		return "<task-notification><task-id>" + agent + "</task-id><status>" + status + "</status><usage>total_tokens: 5</usage></task-notification>"
	}
	s := &script{}
	lines := []entry{s.prompt("go")}
	for _, call := range []string{"c1", "c2", "c3", "c4", "c5"} {
		lines = append(lines, s.calls("m1", call, "Task", task(call)))
	}
	for _, call := range []string{"c1", "c2", "c3", "c4", "c5"} {
		lines = append(lines, s.answers(call, "Async agent launched successfully.", launched("a"+call)))
	}
	lines = append(lines,
		s.calls("m2", "p1", "TaskOutput", entry{"task_id": "ac1"}),
		s.answers("p1", "…", entry{"retrieval_status": "not_ready", "task": entry{"task_id": "ac1", "status": "running"}}),
		s.calls("m3", "p2", "TaskOutput", entry{"task_id": "ac1"}),
		s.answers("p2", "…", entry{"retrieval_status": "success", "task": entry{"task_id": "ac1", "status": "completed"}}),
		entry{"type": "queue-operation", "operation": "enqueue", "content": note("ac2", "failed")},
		s.prompt(note("ac3", "killed")),
		entry{"type": "attachment", "attachment": entry{"type": "queued_command", "prompt": note("ac4", "completed")}},
		s.prompt(note("other", "completed")),
	)
	r, _ := readText(t, text(lines...))
	want := []run{
		{"ac1", StateCompleted, 0}, {"ac2", StateFailed, 0}, {"ac3", StateCancelled, 0}, {"ac4", StateCompleted, 0}, {"ac5", StateRunning, 0},
	}
	if diff := cmp.Diff(want, r.runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if tokens := r.ends[r.starts[1].ID].Metrics.TotalTokens; tokens == nil || *tokens != 5 {
		t.Errorf("tokens %v, want those of the notification", tokens)
	}
	if state := r.states[r.starts[4].ChildSessionID]; state != StateRunning {
		t.Errorf("session of the run without news: %s", state)
	}
}

// A rejected call is cancelled, one that was cut stays running, and one that may
// still be answered has no run yet.
func TestCallsWithoutAgent(t *testing.T) {
	s := &script{}
	r, _ := readText(t, text(
		s.prompt("go"), s.calls("m1", "c1", "Task", task("a")),
		s.answers("c1", "no", "Error: The user doesn't want to proceed with this tool use."), s.prompt("[Request interrupted by user for tool use]"),
		s.prompt("again"), s.calls("m2", "c2", "Task", task("b")),
		s.prompt("and again"), s.calls("m3", "c3", "Task", task("c")),
	))
	want := []run{{"c1", StateCancelled, 0}, {"c2", StateRunning, 0}}
	if diff := cmp.Diff(want, r.runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// A subagent that is resumed has one session and a run for each call, each with the
// messages from its own prompt on.
func TestResumedAgent(t *testing.T) {
	s := &script{}
	again := task("more")
	again["resume"] = "a1"
	r, _ := readFiles(t, map[string]string{
		testSession + ".jsonl": text(
			s.prompt("go"), s.calls("m1", "c1", "Task", task("first")), s.answers("c1", "done", answered("a1")),
			s.calls("m2", "c2", "Task", again), s.answers("c2", "done", answered("a1")), s.says("m3", "done"),
		),
		testSession + "/subagents/agent-a1.jsonl": text(
			s.prompt("first", ofAgent("a1")), s.says("x1", "one", ofAgent("a1")),
			s.prompt("more", ofAgent("a1")), s.says("x2", "two", ofAgent("a1")),
		),
	})
	if len(r.sessions) != 2 || len(r.starts) != 2 {
		t.Fatalf("%d sessions and %d executions, want 2 and 2", len(r.sessions), len(r.starts))
	}
	var order []string
	for _, m := range r.messages {
		order = append(order, m.Content)
	}
	if diff := cmp.Diff([]string{"go", "", "first", "one", "done", "", "more", "two", "done", "done"}, order); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// News of a run in the background ends that run, not one that began later.
func TestResumedInBackground(t *testing.T) {
	launched := entry{"isAsync": true, "status": "async_launched", "agentId": "a1"}
	done := "<task-notification><task-id>a1</task-id><status>completed</status></task-notification>"
	s := &script{}
	first := []entry{
		s.prompt("go"), s.calls("m1", "c1", "Task", task("first")), s.answers("c1", "Async agent launched successfully.", launched),
		s.prompt(done), s.calls("m2", "c2", "Task", task("more")), s.answers("c2", "Async agent launched successfully.", launched),
	}
	r, _ := readText(t, text(first...))
	if diff := cmp.Diff([]run{{"a1", StateCompleted, 0}, {"a1", StateRunning, 0}}, r.runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	r, _ = readText(t, text(append(first, s.prompt(strings.Replace(done, "completed", "failed", 1)))...))
	if diff := cmp.Diff([]run{{"a1", StateCompleted, 0}, {"a1", StateFailed, 0}}, r.runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}

	silent := append(slices.Delete(slices.Clone(first), 3, 4), s.prompt(strings.Replace(done, "completed", "failed", 1)))
	r, _ = readText(t, text(silent...))
	if diff := cmp.Diff([]run{{"a1", StateCompleted, 0}, {"a1", StateFailed, 0}}, r.runs()); diff != "" {
		t.Errorf("runs, without news of the first (-want +got):\n%s", diff)
	}
}

// An agent belongs to the session that called it first: a file that names its own
// agent, or one of another session, is followed no further.
func TestAgentThatCallsItself(t *testing.T) {
	s := &script{}
	r, _ := readFiles(t, map[string]string{
		testSession + ".jsonl": text(s.prompt("go"), s.calls("m1", "c1", "Task", task("left")), s.answers("c1", "done", answered("a1"))),
		testSession + "/subagents/agent-a1.jsonl": text(s.prompt("left", ofAgent("a1")), s.calls("x1", "n1", "Task", task("self"), ofAgent("a1")),
			s.answers("n1", "done", answered("a1"), ofAgent("a1"))),
	})
	if diff := cmp.Diff([]run{{"a1", StateCompleted, 3}, {"n1", StateCompleted, 0}}, r.runs()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// A call whose id is used again led to one run, on the message that issued it first: the
// run is told once, and with it all that was called in it (HI-6).
func TestReusedCallID(t *testing.T) {
	s := &script{}
	r, summary := readText(t, text(
		s.prompt("go"),
		s.calls("m1", "call_0", "Task", task("left")), s.calls("m1", "call_0", "Task", task("left")), s.answers("call_0", "done", answered("a1")),
		s.calls("m2", "call_0", "Task", task("left")), s.answers("call_0", "done", answered("a1")),
		s.calls("m3", "call_0", "Task", task("left")),
	))
	if len(r.starts) != 1 || len(r.ends) != 1 || summary.Executions != 1 || summary.Subagents != 1 {
		t.Fatalf("%d runs began and %d ended, counted are %d of %d subagents; want 1", len(r.starts), len(r.ends), summary.Executions, summary.Subagents)
	}
	if first := r.messages[1].ID; r.starts[0].ParentMessageID != first {
		t.Errorf("run of message %s, want %s", r.starts[0].ParentMessageID, first)
	}
}
