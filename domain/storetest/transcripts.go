package storetest

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Transcripts is what every history.Store must do when a transcript is written.
func Transcripts(t *testing.T, open Open) {
	historyCases(t, open, map[string]func(*testing.T, *historyWorld){
		"HI-9 a replay is told, also after a patch and a rollback": appendReplays,
		"HI-9 a conflict refuses the whole batch":                  appendConflicts,
		"HI-9 ids within one batch are judged":                     appendTwins,
		"HI-9 a grown batch adds the rest":                         appendGrows,
		"API-23 a turn is one of the session":                      appendTurns,
		"API-24 owned metadata is refused, U+0000 replaced":        appendCleans,
		"messages are kept as they came":                           appendKeeps,
		"HI-8 paths lead from the main session's workspace":        appendPaths,
		"archived tasks and ended sessions take messages":          appendLate,
		"EV-1 news of messages":                                    appendStamps,
		"seq is gapless under concurrent appends":                  appendRaces,
		"API-8 two tasks race for ids":                             appendIDRaces,
		"limits name every problem":                                appendValidates,
		"API-5 a patch changes what it names":                      editMessages,
		"API-24 a patch keeps owned metadata":                      editKeepsOwned,
		"HI-4 a rollback is logical and final":                     rollBacks,
	})
}

func appendReplays(t *testing.T, w *historyWorld) {
	batch := []history.NewMessage{user(), works("a.go")}
	batch[0].ID, batch[1].ID = domain.NewID(), domain.NewID()
	batch[1].Metadata = json.RawMessage(`{"b": 1, "a": 1.0}`)
	want := w.say(t, w.main, batch...)
	if _, err := w.history.EditMessage(t.Context(), w.taskID, batch[0].ID, history.Edit{Content: new("edited")}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 2); err != nil {
		t.Fatal(err)
	}
	w.notices.take()
	batch[1].Metadata = json.RawMessage(`{"a": 1, "b": 1}`)
	got := w.say(t, w.main, batch...)
	for i := range want.Results {
		want.Results[i].Status = history.AppendReplayed
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replay differs:\n%s", diff)
	}
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("told of %+v", told)
	}
	if page := w.read(t, w.main, history.PageQuery{}); len(page.Messages) != 1 || page.Messages[0].Content != "edited" {
		t.Errorf("history is %+v", page.Messages)
	}
}

func appendConflicts(t *testing.T, w *historyWorld) {
	m := user()
	m.ID = domain.NewID()
	w.say(t, w.main, m)
	m.Content = "another"
	_, err := w.history.Append(t.Context(), w.taskID, w.main.ID, []history.NewMessage{works("b.go"), m})
	wantErr(t, err, session.ErrMessageConflict)
	m.Content = user().Content
	_, err = w.history.Append(t.Context(), w.taskID, w.mainIn("/x").ID, []history.NewMessage{works("b.go"), m})
	wantErr(t, err, session.ErrMessageConflict)
	other := w.task()
	of := w.session(other.ID, session.KindMain, nil)
	_, err = w.history.Append(t.Context(), other.ID, of.ID, []history.NewMessage{m})
	wantErr(t, err, session.ErrMessageConflict)
	if page := w.read(t, w.main, history.PageQuery{}); page.LastSeq != 1 || len(page.Messages) != 1 {
		t.Errorf("something of a refused batch was stored: %+v", page)
	}
}

func appendTwins(t *testing.T, w *historyWorld) {
	m := user()
	m.ID = domain.NewID()
	got := w.say(t, w.main, m, works(), m)
	want := []history.Appended{
		{ID: m.ID, Seq: 1, Status: history.AppendCreated},
		{ID: got.Results[1].ID, Seq: 2, Status: history.AppendCreated},
		{ID: m.ID, Seq: 1, Status: history.AppendReplayed},
	}
	if diff := cmp.Diff(want, got.Results); diff != "" || got.LastSeq != 2 {
		t.Errorf("last seq %d:\n%s", got.LastSeq, diff)
	}
	twin := works()
	twin.ID = domain.NewID()
	other := user()
	other.ID = twin.ID
	_, err := w.history.Append(t.Context(), w.taskID, w.main.ID, []history.NewMessage{twin, other})
	wantErr(t, err, session.ErrMessageConflict)
}

func appendGrows(t *testing.T, w *historyWorld) {
	m := user()
	m.ID = domain.NewID()
	w.say(t, w.main, m)
	got := w.say(t, w.main, works("a.go"), m)
	if got.Results[0].Seq != 2 || got.Results[0].Status != history.AppendCreated || got.Results[1].Seq != 1 || got.LastSeq != 2 {
		t.Errorf("result is %+v", got)
	}
}

func appendTurns(t *testing.T, w *historyWorld) {
	mine, foreign := w.turn(w.main), w.turn(w.mainIn("/x"))
	m := user()
	m.TurnID = &mine.ID
	w.say(t, w.main, m)
	m.TurnID = &foreign.ID
	_, err := w.history.Append(t.Context(), w.taskID, w.main.ID, []history.NewMessage{m})
	wantErr(t, err, session.ErrTurnNotFound)
	_, err = w.history.Append(t.Context(), w.task().ID, w.main.ID, []history.NewMessage{user()})
	wantErr(t, err, session.ErrNotFound)
}

func appendCleans(t *testing.T, w *historyWorld) {
	m := user()
	m.Metadata = json.RawMessage(`{"normalized": {}}`)
	_, err := w.history.Append(t.Context(), w.taskID, w.main.ID, []history.NewMessage{m})
	wantErr(t, err, domain.ErrValidation)
	m = delegates("call")
	m.Content, m.Thinking, m.ToolCalls[0].Arguments = "a\x00b", new("\x00"), "\x00{}"
	m.FileChanges = []history.ReportedChange{{Path: "f", ChangeType: history.Created, AfterContent: new("\x00")}}
	w.say(t, w.main, m)
	got := w.read(t, w.main, history.PageQuery{}).Messages[0]
	if !got.Sanitized || got.Content != "a\ufffdb" || *got.Thinking != "\ufffd" || got.Calls[0].Arguments != "\ufffd{}" {
		t.Errorf("message is %+v", got)
	}
	if got.FileChanges[0].DiffMode != history.Unsupported {
		t.Errorf("change is %+v", got.FileChanges[0])
	}
}

func appendKeeps(t *testing.T, w *historyWorld) {
	turn, at := w.turn(w.main), start.AddDate(-1, 0, 0)
	m := history.NewMessage{
		ID: domain.NewID(), Role: session.RoleTool, Type: session.TypeToolCall, Content: "it's \\ 'so' ?", Thinking: new("h\u2028m"),
		ToolCalls:  []session.ToolCall{{ID: "c", Name: "n", Arguments: "{\"a\": \"<&>\"}", Summary: new("s")}},
		ToolCallID: new("call_0"), TurnID: &turn.ID, Metadata: json.RawMessage(`{"n": 9007199254740993}`), CreatedAt: &at,
	}
	w.say(t, w.main, m)
	got := w.read(t, w.main, history.PageQuery{}).Messages[0]
	if canonical, err := domain.CanonicalJSON(got.Metadata); err != nil || string(canonical) != `{"n":9007199254740993}` {
		t.Errorf("metadata is %s, %v", canonical, err)
	}
	got.Metadata, got.ToolCalls, got.UpdatedAt = nil, nil, at
	want := history.PageMessage{
		Message: session.Message{
			ID: m.ID, TaskID: w.taskID, SessionID: w.main.ID, Seq: 1, Role: m.Role, Type: m.Type, Content: m.Content, Thinking: m.Thinking,
			ToolCallID: m.ToolCallID, TurnID: m.TurnID, CreatedAt: at, UpdatedAt: at,
		},
		Calls: m.ToolCalls, FileChanges: []history.SourcedChange{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("message differs:\n%s", diff)
	}
}

func appendPaths(t *testing.T, w *historyWorld) {
	child, _, err := w.sessions.Create(t.Context(), session.New{
		TaskID: w.taskID, Kind: session.KindSubagent, ParentSessionID: &w.main.ID, WorkspacePath: new("/w/.trees/1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	deep := w.child(child)
	m := works("/w/a.go", "/w/.trees/1/a.go", "./b.go")
	m.FileChanges = append(m.FileChanges, history.ReportedChange{
		Path: "/w/new", OldPath: new("/w/x/../old"), ChangeType: history.Renamed,
	})
	w.say(t, deep, m)
	w.wantShown(t, deep, map[int64][]string{1: {"a.go", ".trees/1/a.go", "b.go", "new"}})
	got := w.read(t, deep, history.PageQuery{}).Messages[0].FileChanges[3]
	if *got.OldPath != "/w/x/../old" || *got.OldPathKey != "old" || got.Path != "/w/new" {
		t.Errorf("rename is %+v", got)
	}
}

func appendLate(t *testing.T, w *historyWorld) {
	if _, err := w.sessions.Update(t.Context(), w.taskID, w.main.ID, session.Patch{State: new(session.StateFailed)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.tasks.Update(t.Context(), w.taskID, task.Patch{Archived: new(true)}); err != nil {
		t.Fatal(err)
	}
	w.say(t, w.main, user())
}

func appendStamps(t *testing.T, w *historyWorld) {
	w.notices.take()
	w.say(t, w.main, user(), works("a.go"))
	want := []event.Change{{Sessions: []event.SessionChange{{SessionID: w.main.ID, Messages: true}}}}
	told := w.notices.take()
	var got []event.Change
	for _, n := range told {
		got = append(got, n.Change)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told differs:\n%s", diff)
	}
	if s, err := w.sessions.Get(t.Context(), w.main.ID); err != nil || s.MessagesSeq != told[0].Seq || s.LastMessageSeq != 2 {
		t.Errorf("session is %+v, %v", s, err)
	}
}

func appendRaces(t *testing.T, w *historyWorld) {
	const writers, batches, size = 8, 5, 3
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range batches {
				if _, err := w.history.Append(t.Context(), w.taskID, w.main.ID, []history.NewMessage{user(), works("f"), user()}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	seqs := seqsOf(w.read(t, w.main, history.PageQuery{Limit: new(200)}))
	for i, seq := range seqs {
		if seq != int64(i+1) {
			t.Fatalf("seqs are %v", seqs)
		}
	}
	if len(seqs) != writers*batches*size {
		t.Errorf("%d messages, want %d", len(seqs), writers*batches*size)
	}
}

func appendValidates(t *testing.T, w *historyWorld) {
	long := strings.Repeat("x", domain.MaxOpaqueID+1)
	m := history.NewMessage{
		Role: "robot", Type: "poem", ToolCallID: &long, Metadata: json.RawMessage(`[]`),
		ToolCalls:   []session.ToolCall{{ID: long, Name: "\x00"}},
		FileChanges: []history.ReportedChange{{ChangeType: "MOVED"}},
		Content:     strings.Repeat("x", domain.MaxMessageText+1),
	}
	_, err := w.history.Append(t.Context(), w.taskID, w.main.ID, []history.NewMessage{m})
	var want []string
	for _, field := range []string{
		"role enum", "type enum", "content too_long", "tool_call_id too_long", "tool_calls/0/id too_long", "tool_calls/0/name nul",
		"file_changes/0/path blank", "file_changes/0/change_type enum", "metadata type",
	} {
		want = append(want, "/body/messages/0/"+field)
	}
	if err == nil || err.Error() != "validation_failed: "+strings.Join(want, ", ") {
		t.Errorf("error is %v, want %s", err, want)
	}
	for _, n := range []int{0, domain.MaxBatch + 1} {
		_, err := w.history.Append(t.Context(), w.taskID, w.main.ID, make([]history.NewMessage, n))
		wantErr(t, err, domain.ErrValidation)
	}
}

func editMessages(t *testing.T, w *historyWorld) {
	m := user()
	m.Thinking, m.Metadata = new("hm"), json.RawMessage(`{"a": 1, "b": 2}`)
	id := w.say(t, w.main, m).Results[0].ID
	edit := func(e history.Edit) session.Message {
		t.Helper()
		got, err := w.history.EditMessage(t.Context(), w.taskID, id, e)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	w.notices.take()
	edit(history.Edit{Content: new("go on"), Metadata: json.RawMessage(`{"b": 2, "a": 1.0}`)})
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("told of no change: %+v", told)
	}
	got := edit(history.Edit{Content: new("n\x00"), SetThinking: true, Metadata: json.RawMessage(`{"c": 3}`)})
	if got.Content != "n\ufffd" || !got.Sanitized || got.Thinking != nil || string(got.Metadata) != `{"c":3}` || got.Seq != 1 {
		t.Errorf("message is %+v", got)
	}
	stored := w.read(t, w.main, history.PageQuery{}).Messages[0].Message
	if stored.Content != got.Content || stored.Thinking != nil || !stored.UpdatedAt.Equal(got.UpdatedAt) {
		t.Errorf("stored message is %+v", stored)
	}
	_, err := w.history.EditMessage(t.Context(), w.taskID, id, history.Edit{Metadata: json.RawMessage(`{"status": 1}`)})
	wantErr(t, err, domain.ErrValidation)
	_, err = w.history.EditMessage(t.Context(), w.task().ID, id, history.Edit{})
	wantErr(t, err, session.ErrMessageNotFound)
}

func editKeepsOwned(t *testing.T, w *historyWorld) {
	m := user()
	m.Metadata, m.Owned = json.RawMessage(`{"a": 1}`), map[string]json.RawMessage{"status": json.RawMessage(`"completed"`)}
	id := w.say(t, w.main, m).Results[0].ID
	got, err := w.history.EditMessage(t.Context(), w.taskID, id, history.Edit{Metadata: json.RawMessage(`{"b": 2}`)})
	if err != nil || string(got.Metadata) != `{"b":2,"status":"completed"}` {
		t.Errorf("metadata is %s, %v", got.Metadata, err)
	}
}

func rollBacks(t *testing.T, w *historyWorld) {
	w.say(t, w.main, user(), works("a"), user(), works("b"))
	got, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 3)
	if err != nil || got != (history.RollbackResult{Deleted: 2, LastSeq: 4}) {
		t.Fatalf("rollback: %+v, %v", got, err)
	}
	w.notices.take()
	got, err = w.history.Rollback(t.Context(), w.taskID, w.main.ID, 3)
	if err != nil || got != (history.RollbackResult{LastSeq: 4}) || len(w.notices.take()) > 0 {
		t.Errorf("second rollback: %+v, %v", got, err)
	}
	if r := w.say(t, w.main, works("c")); r.Results[0].Seq != 5 {
		t.Errorf("a seq was used again: %+v", r)
	}
	w.wantShown(t, w.main, map[int64][]string{2: {"a"}, 5: {"c"}})
	_, err = w.history.Rollback(t.Context(), w.taskID, w.main.ID, 0)
	wantErr(t, err, domain.ErrValidation)
	page := w.read(t, w.main, history.PageQuery{Before: new(int64(4))})
	if diff := cmp.Diff([]int64{1, 2}, seqsOf(page)); diff != "" {
		t.Errorf("a deleted message broke a cursor:\n%s", diff)
	}
}
