package claudecode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lines of one message make one, at the place of the first, whatever stands
// between them.
func TestMessageOfSeveralLines(t *testing.T) {
	s := &script{}
	thought := s.line("assistant", entry{
		"id": "m1", "model": "model-1", "content": []entry{{"type": "thinking", "thinking": "hm"}},
		"usage": entry{"output_tokens": 1},
	})
	r, _ := readText(t, text(
		s.prompt("go"), thought, s.says("m1", "first"), s.calls("m1", "c1", "Bash", entry{"command": "ls"}),
		s.answers("c1", "a b", entry{"stdout": "a b"}), s.calls("m1", "c2", "Read", entry{"file_path": "/w/x"}),
		s.answers("c2", "text", nil), s.says("m2", "done"),
	))
	m := r.messages[1]
	m.ID, m.TurnID, m.Place.File = "", "", ""
	want := Message{
		SessionID: testSession, Role: RoleAssistant, Type: TypeMessage, Content: "first", Thinking: "hm",
		ToolCalls: []ToolCall{{"c1", "Bash", `{"command":"ls"}`, "ls"}, {"c2", "Read", `{"file_path":"/w/x"}`, "/w/x"}},
		Metadata: map[string]any{"model": "model-1", "usage": map[string]any{
			"input_tokens": int64(0), "output_tokens": int64(1), "cache_creation_input_tokens": int64(0), "cache_read_input_tokens": int64(0),
		}},
		Place: Place{Line: 2}, CreatedAt: m.CreatedAt, Settled: true,
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	var roles []Role
	for _, m := range r.messages {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]Role{RoleUser, RoleAssistant, RoleTool, RoleTool, RoleAssistant}, roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
}

// Only what people typed is a prompt and begins a turn; the rest are notices.
func TestUserLines(t *testing.T) {
	s := &script{}
	r, _ := readText(t, text(
		s.prompt("caveat", entry{"isMeta": true}),
		s.prompt("<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>7</command-args>"),
		s.prompt("<local-command-stdout>ok</local-command-stdout>"),
		s.prompt("please"),
		s.says("m1", "working"),
		s.prompt("[Request interrupted by user]"),
		s.prompt("<task-notification><task-id>b1</task-id><status>completed</status></task-notification>"),
		s.prompt("This session is being continued", entry{"isCompactSummary": true}),
		s.prompt("<bash-input>ls</bash-input>"),
		s.prompt(" "),
		s.says("m2", "API Error: 500", entry{"isApiErrorMessage": true}),
	))
	type said struct {
		Role    Role
		Content string
		Notice  any
	}
	var got []said
	for _, m := range r.messages {
		if m.Role != RoleAssistant {
			got = append(got, said{m.Role, m.Content, m.Metadata["notice"]})
		}
	}
	want := []said{
		{RoleSystem, "caveat", "meta"},
		{RoleUser, "/review 7", nil},
		{RoleSystem, "<local-command-stdout>ok</local-command-stdout>", "command_output"},
		{RoleUser, "please", nil},
		{RoleSystem, "[Request interrupted by user]", "interrupt"},
		{RoleSystem, got[5].Content, "notification"},
		{RoleSystem, "This session is being continued", "compact_summary"},
		{RoleUser, "! ls", nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if r.task.Title != "please" {
		t.Errorf("title %q, want the first prompt that is no command", r.task.Title)
	}
	var states []State
	for _, turn := range r.turns {
		states = append(states, turn.State)
	}
	wantStates := []State{StateRunning, StateCompleted, StateRunning, StateCancelled, StateRunning, StateFailed}
	if diff := cmp.Diff(wantStates, states); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

// A summary names the task when the line it sums up is in the file.
func TestTitle(t *testing.T) {
	s := &script{}
	mine := entry{"type": "summary", "summary": "Mine", "leafUuid": "u1"}
	foreign := entry{"type": "summary", "summary": "Foreign", "leafUuid": "elsewhere"}
	for want, lines := range map[string][]entry{
		"Mine":   {foreign, mine, s.prompt("go", entry{"uuid": "u1"})},
		"go":     {foreign, s.prompt("go", entry{"uuid": "u1"})},
		"Chosen": {mine, s.prompt("go", entry{"uuid": "u1"}), {"type": "custom-title", "customTitle": "Chosen"}},
	} {
		r, _ := readText(t, text(lines...))
		if r.task.Title != want || r.sessions[0].Title != want {
			t.Errorf("title %q, want %q", r.task.Title, want)
		}
	}
}

// A file that ends in the middle of work leaves the turn running.
func TestCutTurn(t *testing.T) {
	s := &script{}
	r, _ := readText(t, text(s.prompt("go"), s.calls("m1", "c1", "Bash", entry{"command": "sleep"})))
	if r.ended[r.turns[0].ID] != StateRunning || r.messages[1].Settled {
		t.Errorf("turn %s, message settled %v, want a running one that may grow", r.ended[r.turns[0].ID], r.messages[1].Settled)
	}
}

// A prompt behind a message settles it: nothing is added any more.
func TestSettledByPrompt(t *testing.T) {
	s := &script{}
	r, _ := readText(t, text(s.prompt("go"), s.says("m1", "done"), s.prompt("more")))
	if !r.messages[1].Settled {
		t.Error("the message before the prompt is not settled")
	}
	stop := s.line("assistant", entry{"id": "m", "stop_reason": "end_turn", "content": "done"})
	r, _ = readText(t, text(s.prompt("go"), stop))
	if !r.messages[1].Settled {
		t.Error("the message that the model finished is not settled")
	}
}

// A session that no UUID names has a derived id, the same every time.
func TestSessionWithoutUUID(t *testing.T) {
	s := &script{}
	lines := text(s.prompt("go", entry{"sessionId": "one"}))
	first, _ := readText(t, lines)
	if first.sessions[0].ID != testSession {
		t.Errorf("session %s, want the one that names the file", first.sessions[0].ID)
	}
	second, _ := readFiles(t, map[string]string{"short.jsonl": lines})
	third, _ := readFiles(t, map[string]string{"short.jsonl": lines})
	if second.sessions[0].ID != third.sessions[0].ID || second.sessions[0].ID == testSession {
		t.Errorf("sessions %s and %s, want one that is derived", second.sessions[0].ID, third.sessions[0].ID)
	}
}

// A picture leaves a mark where it was, in a prompt and in a result; a result without
// any text stays as it was written.
func TestPictures(t *testing.T) {
	s := &script{}
	picture := entry{"type": "image", "source": entry{"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
	reference := []entry{{"type": "tool_reference", "tool_name": "Edit"}}
	ask := s.line("user", entry{"content": []entry{{"type": "text", "text": "look"}, picture}}, entry{"imagePasteIds": []int{1}})
	shown := s.answers("c1", "", entry{"type": "image"})
	shown["message"].(entry)["content"].([]entry)[0]["content"] = []entry{{"type": "text", "text": "seen"}, picture}
	found := s.answers("c2", "", entry{"matches": []string{"Edit"}})
	found["message"].(entry)["content"].([]entry)[0]["content"] = reference
	r, summary := readText(t, text(ask, s.calls("m1", "c1", "Read", entry{}), shown, s.calls("m2", "c2", "ToolSearch", entry{}), found,
		s.line("user", entry{"content": []entry{picture}})))
	var got []string
	for _, m := range r.messages {
		if m.Role != RoleAssistant {
			got = append(got, m.Content)
		}
	}
	want := []string{"look\n\n[image]", "seen\n\n[image]", `[{"tool_name":"Edit","type":"tool_reference"}]`, "[image]"}
	if diff := cmp.Diff(want, got); diff != "" || len(summary.Problems) > 0 {
		t.Errorf("problems %v, texts (-want +got):\n%s", summary.Problems, diff)
	}
}

// A conversation that was compacted goes on in the same session: the boundary says
// nothing, the summary behind it is a notice, and what was before stays.
func TestCompaction(t *testing.T) {
	s := &script{}
	boundary := entry{
		"type": "system", "subtype": "compact_boundary", "uuid": "b1", "parentUuid": nil, "logicalParentUuid": "u2", "content": "Conversation compacted",
		"compactMetadata": entry{"trigger": "auto", "preTokens": 155000},
	}
	micro := entry{"type": "system", "subtype": "microcompact_boundary", "uuid": "b2", "content": "Context microcompacted"}
	r, summary := readText(t, text(
		s.prompt("go"), s.says("m1", "one"), boundary,
		s.prompt("This session is being continued from a previous conversation", entry{"isCompactSummary": true, "isVisibleInTranscriptOnly": true}),
		s.says("m2", "two"), micro, s.prompt("more"), s.says("m3", "three"),
	))
	var got []string
	for _, m := range r.messages {
		got = append(got, string(m.Role)+" "+clip(m.Content, 3))
	}
	if diff := cmp.Diff([]string{"user go", "assistant one", "system Thi", "assistant two", "user mor", "assistant thr"}, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if len(r.sessions) != 1 || len(r.turns) != 4 || len(summary.Problems) > 0 {
		t.Errorf("%d sessions, %d turns, problems %v", len(r.sessions), len(r.turns), summary.Problems)
	}
}
