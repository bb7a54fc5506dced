package storetest

import (
	"encoding/json"
	"testing"
)

// HI-6: a message that a run was given to, and that a frame makes one that issues the
// call, catches no run that waits.
func bindsNoSecond(t *testing.T, w *historyWorld) {
	tell := func(kind string) string {
		t.Helper()
		told := json.RawMessage(`{"frame":"tool_call","tool_call_id":"c","normalized":{"kind":"` + kind + `"}}`)
		results, err := w.history.AppendFrames(t.Context(), w.taskID, w.main.ID, []json.RawMessage{told})
		if err != nil {
			t.Fatal(err)
		}
		return results[0].MessageID
	}
	message := tell("read")
	given := w.startOf(w.child(w.main), "c")
	given.ParentMessageID = &message
	first, _, err := w.runs.Start(t.Context(), given)
	if err != nil {
		t.Fatal(err)
	}
	second := w.start(t, w.child(w.main), "c")
	tell("subagent_task")
	w.wantBound(t, first, 1)
	w.wantBound(t, second, 0)
	w.say(t, w.main, frame("c", "subagent_task"))
	w.wantBound(t, second, 2)
}
