package storetest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"gatehouse/domain/history"
	"gatehouse/domain/subagent"
)

// FrameFaults breaks every statement of a batch of frames, before and after it: its
// messages are stored whole or not at all, a context that could not be recorded fails
// nothing, and the retry settles both (HI-9, SC-14, QU-22).
func FrameFaults(t *testing.T, open func(tb testing.TB) ContextStore, probe Probe) {
	var store ContextStore
	f := &faults{world: newWorld(t, func(tb testing.TB) Store {
		store = open(tb)
		return store
	})}
	probe(t, store, f.step)
	calls := f.frames(t, store, 0)
	for at := 1; at <= calls; at++ {
		t.Run(fmt.Sprintf("call %d of %d", at, calls), func(t *testing.T) { f.frames(t, store, at) })
	}
}

// frames tells of two calls, one of them known before, with a fault at a call of the
// probe, and returns how many calls it took.
func (f *faults) frames(t *testing.T, store ContextStore, at int) (calls int) {
	w := newHistoryWorld(t, f.world)
	counts := &FrameCounts{}
	w.history = w.history.RecordingTo(subagent.NewRecorder(store.Contexts(), w.clock, slog.New(slog.DiscardHandler), counts))
	turn := w.turn(w.main)
	w.tell(t, w.main, frameText{"frame": "tool_call", "tool_call_id": "known"})
	var batch []json.RawMessage
	for _, frame := range []frameText{
		{"frame": "tool_call_update", "tool_call_id": "known", "turn_id": turn.ID, "normalized": subagentTask(nil)},
		{"frame": "tool_call", "tool_call_id": "new", "normalized": subagentTask(nil)},
	} {
		raw, err := json.Marshal(frame)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, raw)
	}
	err := f.during(at, nil, func() error {
		_, err := w.history.AppendFrames(t.Context(), w.taskID, w.main.ID, batch)
		return err
	})
	if at == 0 && err != nil {
		t.Fatal(err)
	}
	calls = f.seen
	stored := w.read(t, w.main, history.PageQuery{}).Messages
	if done := len(stored) == 2; done != (stored[0].TurnID != nil) || err == nil && !done {
		t.Errorf("half of it is stored after %v: %+v", err, stored)
	}
	if got := counts.All(); err != nil && got[subagent.RecordAttempted] != 0 || got[subagent.RecordPersisted]+got[subagent.RecordFailed] != got[subagent.RecordAttempted] {
		t.Errorf("counted %v after %v", got, err)
	}
	for range 2 {
		if _, err := w.history.AppendFrames(t.Context(), w.taskID, w.main.ID, batch); err != nil {
			t.Fatal(err)
		}
	}
	rows := w.contextsOf(t, w.main.ID)
	if page := w.read(t, w.main, history.PageQuery{}); len(page.Messages) != 2 || page.LastSeq != 2 || len(rows) != 2 {
		t.Errorf("the retry left %+v and %+v", page, rows)
	}
	for i, call := range []string{"known", "new"} {
		w.wantBound(t, w.start(t, w.child(w.main), call), int64(i+1))
	}
	return calls
}
