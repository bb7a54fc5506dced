package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Frames is what every history.Store must do with frames.
func Frames(t *testing.T, open Open) {
	historyCases(t, open, map[string]func(*testing.T, *historyWorld){
		"a frame makes the message of its call":                 frameCreates,
		"SC-4 SC-5 later frames are merged into it":             frameMerges,
		"HI-9 a terminal status is frozen":                      frameFreezes,
		"HI-9 what is told again changes nothing":               frameReplays,
		"HI-9 what was rolled back stays so":                    frameAfterRollback,
		"frames come in any order, and an update makes a call":  frameOrder,
		"SC-21 a call of two executions is two messages":        frameExecutions,
		"SC-2 a frame without a call is a message":              frameWithoutCall,
		"each frame is judged by itself":                        framesJudged,
		"API-23 a turn is one of the session's":                 frameTurns,
		"U+0000 becomes U+FFFD":                                 frameSanitises,
		"HI-6 a frame of a subagent task binds its execution":   frameBinds,
		"SC-1 archived tasks and ended sessions take frames":    frameLate,
		"EV-1 the stamp of the messages moves with them":        frameStamps,
		"HI-9 many tell the same at once":                       frameRaces,
		"the id of a call's message may be taken":               frameConflicts,
		"what a call is does not grow without end":              frameGrows,
		"a batch has 1 to 500 frames":                           frameBatches,
		"HI-9 an edit keeps the service's own members and more": frameEdits,
	})
}

// frameText is a frame, or an object in one, as a runner sends it.
type frameText map[string]any

func subagentTask(payload frameText) frameText {
	if payload == nil {
		payload = frameText{}
	}
	return frameText{"kind": "subagent_task", "subagent_task": payload}
}

// tell sends frames and returns what became of them.
func (w *historyWorld) tell(t failer, to session.Session, frames ...frameText) []history.FrameResult {
	t.Helper()
	var batch []json.RawMessage
	for _, f := range frames {
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatalf("frame: %v", err)
		}
		batch = append(batch, raw)
	}
	results, err := w.history.AppendFrames(w.t.Context(), w.taskID, to.ID, batch)
	if err != nil {
		t.Fatalf("append frames: %v", err)
	}
	return results
}

// told is the only message of the main session but user messages.
func (w *historyWorld) told(t failer) session.Message {
	t.Helper()
	page := w.read(t, w.main, history.PageQuery{Limit: new(200)})
	if len(page.Messages) != 1 {
		t.Fatalf("%d messages: %+v", len(page.Messages), page.Messages)
	}
	return page.Messages[0].Message
}

// wantTold compares outcomes, and reasons where there are any.
func wantTold(t failer, results []history.FrameResult, want ...string) {
	t.Helper()
	var got []string
	for _, r := range results {
		got = append(got, strings.TrimSpace(string(r.Outcome)+" "+string(r.Reason)))
		if (r.Outcome == history.FrameRejected) != (r.MessageID == "" && r.Seq == 0) {
			t.Errorf("result is %+v", r)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes:\n%s", diff)
	}
}

func wantMetadata(t failer, m session.Message, want string) {
	t.Helper()
	got, err := domain.CanonicalJSON(m.Metadata)
	if err != nil || string(got) != want {
		t.Errorf("metadata is\n%s, want\n%s (%v)", got, want, err)
	}
}

func frameCreates(t *testing.T, w *historyWorld) {
	observed := start.Add(-time.Hour)
	results := w.tell(t, w.main, frameText{
		"frame": "tool_call", "tool_call_id": "c", "execution_id": "e", "parent_tool_call_id": "p", "title": "Read",
		"status": "pending", "observed_at": observed, "content": "a", "normalized": frameText{"kind": "read", "Kind": nil, "n": -1.50},
		"raw": []any{frameText{"x": ""}},
	})
	wantTold(t, results, "created")
	m := w.told(t)
	if m.ID != results[0].MessageID || m.Seq != 1 || results[0].Seq != 1 || m.Role != session.RoleTool || m.Type != session.TypeToolCall ||
		*m.ToolCallID != "c" || m.Content != "a" || !m.CreatedAt.Equal(observed) || m.Sanitized {
		t.Errorf("message is %+v", m)
	}
	wantMetadata(t, m, `{"execution_id":"e","normalized":{"Kind":null,"kind":"read","n":-1.5},"parent_tool_call_id":"p","raw":[{"x":""}],"status":"pending","title":"Read","tool_call_id":"c"}`)
}

func frameMerges(t *testing.T, w *historyWorld) {
	w.tell(t, w.main, frameText{"frame": "tool_call", "tool_call_id": "c", "title": "Read", "content": "a", "raw": 1, "normalized": subagentTask(frameText{"model": "m", "n": 1})})
	before := w.told(t)
	results := w.tell(t, w.main,
		frameText{"frame": "tool_call_update", "tool_call_id": "c", "title": "", "content": nil, "status": "in_progress", "normalized": nil},
		frameText{"frame": "tool_call_update", "tool_call_id": "c", "content": "b", "normalized": subagentTask(frameText{"model": "", "n": nil, "status": "done"})},
		frameText{"frame": "tool_call_update", "tool_call_id": "c", "content": "b"},
	)
	wantTold(t, results, "updated", "updated", "unchanged")
	m := w.told(t)
	if m.Content != "b" || m.ID != before.ID || m.Seq != 1 || !m.CreatedAt.Equal(before.CreatedAt) || !m.UpdatedAt.After(before.UpdatedAt) {
		t.Errorf("message is %+v", m)
	}
	wantMetadata(t, m, `{"normalized":{"kind":"subagent_task","subagent_task":{"model":"m","n":1,"status":"done"}},"raw":1,"status":"in_progress","title":"Read","tool_call_id":"c"}`)
}

func frameFreezes(t *testing.T, w *historyWorld) {
	for i, status := range session.SettledToolStatuses {
		id := strconv.Itoa(i)
		w.tell(t, w.main, frameText{"frame": "tool_call", "tool_call_id": id, "status": status})
		results := w.tell(t, w.main,
			frameText{"frame": "tool_call_update", "tool_call_id": id, "status": "in_progress"},
			frameText{"frame": "tool_call_update", "tool_call_id": id, "status": "failed", "title": "still told"})
		wantTold(t, results, "unchanged", "updated")
	}
	for i, m := range w.read(t, w.main, history.PageQuery{Limit: new(200)}).Messages {
		wantMetadata(t, m.Message, fmt.Sprintf(`{"status":%q,"title":"still told","tool_call_id":"%d"}`, session.SettledToolStatuses[i], i))
	}
}

func frameReplays(t *testing.T, w *historyWorld) {
	frames := []frameText{
		{"frame": "tool_call", "tool_call_id": "c", "content": "a", "status": "pending", "raw": frameText{"a": 1, "b": 2}},
		{"frame": "tool_call_update", "tool_call_id": "c", "content": "b", "status": "in_progress"},
		{"frame": "tool_call_update", "tool_call_id": "c", "content": "c"},
	}
	w.tell(t, w.main, frames...)
	if _, err := w.history.EditMessage(t.Context(), w.taskID, w.told(t).ID, history.Edit{Content: new("edited")}); err != nil {
		t.Fatal(err)
	}
	before := w.told(t)
	w.notices.take()
	wantTold(t, w.tell(t, w.main, frames[1], frames[0]), "unchanged", "unchanged")
	wantTold(t, w.tell(t, w.main, slices.Concat(frames, frames)...), "unchanged", "unchanged", "unchanged", "unchanged", "unchanged", "unchanged")
	if diff := cmp.Diff(before, w.told(t)); diff != "" {
		t.Errorf("a replay changed the message:\n%s", diff)
	}
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("a replay was announced: %+v", told)
	}
	again := frameText{"frame": "tool_call", "tool_call_id": "d"}
	wantTold(t, w.tell(t, w.main, again, again), "created", "unchanged")
}

func frameAfterRollback(t *testing.T, w *historyWorld) {
	first := frameText{"frame": "tool_call", "tool_call_id": "c"}
	w.tell(t, w.main, first)
	if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 1); err != nil {
		t.Fatal(err)
	}
	foreign := w.turn(w.mainIn("/x"))
	results := w.tell(t, w.main, first, frameText{"frame": "tool_call_update", "tool_call_id": "c", "content": "late"},
		frameText{"frame": "tool_call_update", "tool_call_id": "c", "turn_id": foreign.ID}, frameText{"frame": "tool_call", "tool_call_id": "d"})
	wantTold(t, results, "unchanged", "unchanged rolled_back", "rejected turn_not_found", "created") // API-23: of a context, too
	if m := w.told(t); *m.ToolCallID != "d" || m.Seq != 2 {
		t.Errorf("message is %+v", m)
	}
}

func frameOrder(t *testing.T, w *historyWorld) {
	results := w.tell(t, w.main,
		frameText{"frame": "tool_call_update", "tool_call_id": "b", "status": "completed"},
		frameText{"frame": "tool_call", "tool_call_id": "a", "status": "pending"},
		frameText{"frame": "tool_call", "tool_call_id": "b", "status": "pending", "title": "Write"})
	wantTold(t, results, "created", "created", "updated")
	if results[0].Seq != 1 || results[1].Seq != 2 || results[2].Seq != 1 || results[2].MessageID != results[0].MessageID {
		t.Errorf("results are %+v", results)
	}
	wantMetadata(t, w.read(t, w.main, history.PageQuery{}).Messages[0].Message, `{"status":"completed","title":"Write","tool_call_id":"b"}`)
}

func frameExecutions(t *testing.T, w *historyWorld) {
	frame := func(execution any, title string) frameText {
		return frameText{"frame": "tool_call", "tool_call_id": "c", "execution_id": execution, "title": title}
	}
	results := w.tell(t, w.main, frame("e1", "1"), frame("e2", "2"), frame("", "3"), frame(" ", "4"), frame("unknown", "5"), frame(nil, "6"))
	wantTold(t, results, "created", "created", "created", "updated", "updated", "updated")
	if page := w.read(t, w.main, history.PageQuery{}); len(page.Messages) != 3 || page.LastSeq != 3 {
		t.Errorf("page is %+v", page)
	}
}

func frameWithoutCall(t *testing.T, w *historyWorld) {
	frame := frameText{"frame": "tool_call", "tool_call_id": "", "content": "a", "normalized": subagentTask(nil)}
	wantTold(t, w.tell(t, w.main, frame, frameText{"frame": "tool_call_update", "content": "b"}), "created", "created")
	wantTold(t, w.tell(t, w.main, frame), "unchanged")
	for _, m := range w.read(t, w.main, history.PageQuery{}).Messages {
		if m.ToolCallID != nil {
			t.Errorf("message is %+v", m.Message)
		}
	}
}

func frameBinds(t *testing.T, w *historyWorld) {
	w.say(t, w.main, user())
	waiting := w.start(t, w.child(w.main), "late")
	results := w.tell(t, w.main,
		frameText{"frame": "tool_call", "tool_call_id": "other", "normalized": frameText{"kind": "edit"}},
		frameText{"frame": "tool_call", "tool_call_id": "late"},
		frameText{"frame": "tool_call", "tool_call_id": "first", "normalized": frameText{"kind": "subagent_task"}})
	w.wantBound(t, w.start(t, w.child(w.main), "first"), results[2].Seq)
	w.wantBound(t, w.start(t, w.child(w.main), "other"), 0)
	w.wantBound(t, waiting, 0)
	w.tell(t, w.main, frameText{"frame": "tool_call_update", "tool_call_id": "late", "normalized": subagentTask(nil)})
	w.wantBound(t, waiting, results[1].Seq)
	again := w.start(t, w.child(w.main), "late")
	w.tell(t, w.main, frameText{"frame": "tool_call_update", "tool_call_id": "late", "status": "completed"})
	w.wantBound(t, again, 0)
}

func frameLate(t *testing.T, w *historyWorld) {
	if _, err := w.sessions.Update(t.Context(), w.taskID, w.main.ID, session.Patch{State: new(session.StateRunning)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.lifecycle().UpdateSession(t.Context(), w.taskID, w.main.ID, session.Patch{State: new(session.StateFailed)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.tasks.Update(t.Context(), w.taskID, task.Patch{Archived: new(true)}); err != nil {
		t.Fatal(err)
	}
	wantTold(t, w.tell(t, w.main, frameText{"frame": "tool_call", "tool_call_id": "c"}), "created")
}

func frameStamps(t *testing.T, w *historyWorld) {
	w.notices.take()
	w.tell(t, w.main, frameText{"frame": "tool_call", "tool_call_id": "c"})
	w.tell(t, w.main, frameText{"frame": "tool_call_update", "tool_call_id": "c", "title": "t"})
	told := w.notices.take()
	s, err := w.sessions.Get(t.Context(), w.main.ID)
	if err != nil || len(told) != 2 || s.MessagesSeq != told[1].Seq || !told[1].Change.Sessions[0].Messages || s.LastMessageSeq != 1 {
		t.Errorf("told %+v, session %+v, %v", told, s, err)
	}
}

func frameRaces(t *testing.T, w *historyWorld) {
	var frames []frameText
	for i := range 10 {
		frames = append(frames,
			frameText{"frame": "tool_call", "tool_call_id": strconv.Itoa(i), "status": "pending"},
			frameText{"frame": "tool_call_update", "tool_call_id": strconv.Itoa(i), "status": "completed"})
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { w.tell(t, w.main, frames...) })
	}
	wg.Wait()
	page := w.read(t, w.main, history.PageQuery{Limit: new(200)})
	if len(page.Messages) != 10 || page.LastSeq != 10 {
		t.Errorf("%d messages, the last is %d", len(page.Messages), page.LastSeq)
	}
	for i, m := range page.Messages {
		wantMetadata(t, m.Message, fmt.Sprintf(`{"status":"completed","tool_call_id":"%d"}`, i))
	}
}

func frameEdits(t *testing.T, w *historyWorld) {
	w.tell(t, w.main, frameText{"frame": "tool_call", "tool_call_id": "c", "status": "completed", "title": "t", "normalized": frameText{"kind": "x"}})
	if _, err := w.history.EditMessage(t.Context(), w.taskID, w.told(t).ID, history.Edit{Metadata: []byte(`{"mine":1}`)}); err != nil {
		t.Fatal(err)
	}
	wantMetadata(t, w.told(t), `{"mine":1,"normalized":{"kind":"x"},"status":"completed","tool_call_id":"c"}`)
	w.tell(t, w.main, frameText{"frame": "tool_call_update", "tool_call_id": "c", "title": "t2"})
	wantMetadata(t, w.told(t), `{"mine":1,"normalized":{"kind":"x"},"status":"completed","title":"t2","tool_call_id":"c"}`)
}
