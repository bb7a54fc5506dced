package storetest

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

func framesJudged(t *testing.T, w *historyWorld) {
	batch := []json.RawMessage{json.RawMessage(`{"frame": "tool_call", "tool_call_id": "first"}`)}
	for _, bad := range []string{`null`, `5`, `{"frame": "tool_call", "Tool_Call_Id": "x"}`, `{"frame": "other"}`} {
		batch = append(batch, json.RawMessage(bad))
	}
	batch = append(batch, json.RawMessage(`{"frame": "tool_call", "tool_call_id": "last", "normalized": "of another type"}`))
	results, err := w.history.AppendFrames(t.Context(), w.taskID, w.main.ID, batch)
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, results, "created", "rejected malformed", "rejected malformed", "rejected malformed", "rejected unknown_frame", "created")
	if results[5].Seq != 2 {
		t.Errorf("the last one is %+v", results[5])
	}
	results, err = w.history.AppendFrames(t.Context(), w.taskID, w.main.ID, batch[1:2])
	if err != nil {
		t.Fatal(err)
	}
	wantTold(t, results, "rejected malformed")
}

func frameTurns(t *testing.T, w *historyWorld) {
	turn, foreign := w.turn(w.main), w.turn(w.mainIn("/x"))
	frame := func(id, turn string) frameText {
		return frameText{"frame": "tool_call", "tool_call_id": id, "turn_id": turn}
	}
	other := w.turn(w.main)
	results := w.tell(t, w.main, frame("a", ""), frame("a", strings.ToUpper(turn.ID)), frame("a", other.ID), frame("b", foreign.ID), frame("b", domain.NewID()), frame("b", "turn-1"))
	wantTold(t, results, "created", "updated", "unchanged", "rejected turn_not_found", "rejected turn_not_found", "rejected turn_not_found")
	if m := w.told(t); *m.TurnID != turn.ID {
		t.Errorf("turn is %v", *m.TurnID)
	}
	if err := w.sessions.DeleteTurn(t.Context(), w.taskID, other.ID); err != nil {
		t.Fatal(err)
	}
	wantTold(t, w.tell(t, w.main, frame("a", other.ID), frame("c", other.ID)), "unchanged", "rejected turn_not_found")

	like := domain.DeriveID(w.main.ID, "frame", subagent.UnknownExecution, "d") // the id of the message of its call
	if _, _, err := w.sessions.StartTurn(t.Context(), w.taskID, w.main.ID, like); err != nil {
		t.Fatal(err)
	}
	wantTold(t, w.tell(t, w.main, frame("d", like)), "created")
}

func frameSanitises(t *testing.T, w *historyWorld) {
	results := w.tell(t, w.main,
		frameText{"frame": "tool_call", "tool_call_id": "a\x00"},
		frameText{"frame": "tool_call", "tool_call_id": "a", "title": "\x00", "status": "\x00", "content": "\x00", "raw": frameText{"\x00": []any{"\x00"}}, "normalized": frameText{"k": "\x00"}})
	wantTold(t, results, "rejected nul", "created")
	m := w.told(t)
	if m.Content != "\ufffd" || !m.Sanitized {
		t.Errorf("message is %+v", m)
	}
	wantMetadata(t, m, strings.ReplaceAll(`{"normalized":{"k":"0"},"raw":{"0":["0"]},"status":"0","title":"0","tool_call_id":"a"}`, "0", "\ufffd"))
}

func frameConflicts(t *testing.T, w *historyWorld) {
	taken := user()
	taken.ID = domain.DeriveID(w.main.ID, "frame", subagent.UnknownExecution, "c")
	w.say(t, w.mainIn("/x"), taken)
	results := w.tell(t, w.main, frameText{"frame": "tool_call", "tool_call_id": "c"}, frameText{"frame": "tool_call", "tool_call_id": "d"})
	wantTold(t, results, "rejected message_conflict", "created")
}

func frameGrows(t *testing.T, w *historyWorld) {
	frame := func(member string) frameText {
		return frameText{"frame": "tool_call", "tool_call_id": "c", "title": member, "normalized": frameText{member: strings.Repeat("x", 3<<20)}}
	}
	wantTold(t, w.tell(t, w.main, frame("a"), frame("b")), "created", "rejected too_large")
	wantTold(t, w.tell(t, w.main, frame("b"), frame("a"), frameText{"frame": "tool_call", "tool_call_id": "c", "status": "completed"}),
		"rejected too_large", "unchanged", "updated")
	again := frame("a")
	again["title"] = "the same member"
	wantTold(t, w.tell(t, w.main, again), "updated")
}

func frameBatches(t *testing.T, w *historyWorld) {
	for _, n := range []int{0, domain.MaxBatch + 1} {
		_, err := w.history.AppendFrames(t.Context(), w.taskID, w.main.ID, make([]json.RawMessage, n))
		wantErr(t, err, domain.ErrValidation)
	}
	_, err := w.history.AppendFrames(t.Context(), w.taskID, domain.NewID(), []json.RawMessage{[]byte(`{}`)})
	wantErr(t, err, session.ErrNotFound)
}
