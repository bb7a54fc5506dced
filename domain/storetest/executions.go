package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// Executions is what every subagent.ExecutionStore must do.
func Executions(t *testing.T, open Open) {
	historyCases(t, open, map[string]func(*testing.T, *historyWorld){
		"HI-1 a start is the child's last seq, deleted ones included": executionStarts,
		"HI-2 an end is the child's last seq, and final":              executionEnds,
		"API-8 a start is idempotent by id":                           executionReplays,
		"API-23 child and message are the parent's":                   executionPlaces,
		"HI-10 a child runs one execution at a time":                  executionRunsAlone,
		"HI-30 what a run is told late is its own":                    executionExtends,
		"HI-10 one of two racing starts wins":                         executionRaces,
		"HI-10 executions end with their session":                     executionsEndWithSession,
		"start names every problem":                                   executionValidates,
		"HI-6 the newest free message of the current round":           bindsNewest,
		"HI-6 a message of an earlier round does not catch":           bindsCurrentRound,
		"HI-6 else the next such message, one each, the oldest first": bindsNext,
		"HI-6 only calls of delegation tools":                         bindsDelegations,
		"HI-6 the message given":                                      bindsGiven,
		"HI-6 a frame of a subagent task carries its call":            bindsFrames,
		"HI-6 a message that has a run catches no other":              bindsNoSecond,
		"HI-6 once, and in its place, in every order of arrival":      bindsInEveryOrder,
		"lists page, oldest first":                                    executionLists,
		"EV-7 the parent's topics move":                               executionStamps,
	})
}

func executionStarts(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	e := w.start(t, child, "call")
	if *e.StartMessageSeq != 0 || e.Run != 1 || *e.AgentType != "coder" || e.Status != subagent.ExecutionRunning || e.EndMessageSeq != nil {
		t.Errorf("first run is %+v", e)
	}
	w.end(t, e)
	w.say(t, child, user(), works())
	if _, err := w.history.Rollback(t.Context(), w.taskID, child.ID, 2); err != nil {
		t.Fatal(err)
	}
	if e = w.start(t, child, "call"); *e.StartMessageSeq != 2 || e.Run != 2 {
		t.Errorf("second run is %+v", e)
	}
}

func executionEnds(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	e := w.start(t, child, "call")
	w.say(t, child, user(), works())
	first, err := w.runs.End(t.Context(), w.taskID, e.ID, subagent.ExecutionFailed)
	if err != nil || *first.EndMessageSeq != 2 || first.Status != subagent.ExecutionFailed || first.EndedAt == nil {
		t.Fatalf("end: %+v, %v", first, err)
	}
	w.say(t, child, works())
	w.notices.take()
	again, err := w.runs.End(t.Context(), w.taskID, e.ID, subagent.ExecutionCompleted)
	if diff := cmp.Diff(first, again); err != nil || diff != "" || len(w.notices.take()) > 0 {
		t.Errorf("second end: %v\n%s", err, diff)
	}
	_, err = w.runs.End(t.Context(), w.task().ID, e.ID, subagent.ExecutionCompleted)
	wantErr(t, err, subagent.ErrExecutionNotFound)
	_, err = w.runs.End(t.Context(), w.taskID, domain.NewID(), subagent.ExecutionCompleted)
	wantErr(t, err, subagent.ErrExecutionNotFound)
}

func executionReplays(t *testing.T, w *historyWorld) {
	r := w.startOf(w.child(w.main), "call")
	r.ID = domain.NewID()
	first, created, err := w.runs.Start(t.Context(), r)
	if err != nil || !created {
		t.Fatalf("start: created %v, %v", created, err)
	}
	again, created, err := w.runs.Start(t.Context(), r)
	if diff := cmp.Diff(first, again); err != nil || created || diff != "" {
		t.Errorf("replay: created %v, %v\n%s", created, err, diff)
	}
	w.end(t, first)
	if again, created, err = w.runs.Start(t.Context(), r); err != nil || created || again.Status != subagent.ExecutionCompleted {
		t.Errorf("replay of an ended one: created %v, %+v, %v", created, again, err)
	}
	r.Tool = "Agent"
	_, _, err = w.runs.Start(t.Context(), r)
	wantErr(t, err, subagent.ErrExecutionConflict)
}

func executionPlaces(t *testing.T, w *historyWorld) {
	child, sideTask := w.child(w.main), w.session(w.taskID, session.KindSideTask, &w.main.ID)
	other := w.mainIn("/x")
	for name, childID := range map[string]string{
		"no session":        domain.NewID(),
		"a main session":    other.ID,
		"a side task":       sideTask.ID,
		"another's child":   w.child(other).ID,
		"a grandchild":      w.child(child).ID,
		"of another task":   w.session(w.task().ID, session.KindMain, nil).ID,
		"the parent itself": w.main.ID,
	} {
		r := w.startOf(child, "call")
		r.ChildSessionID = childID
		if _, _, err := w.runs.Start(t.Context(), r); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	mine, foreign := w.say(t, w.main, delegates("call"), user()), w.say(t, other, delegates("call"))
	if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 2); err != nil {
		t.Fatal(err)
	}
	for name, messageID := range map[string]string{
		"no message": domain.NewID(), "another's": foreign.Results[0].ID, "rolled back": mine.Results[1].ID,
	} {
		r := w.startOf(child, "call")
		r.ParentMessageID = &messageID
		if _, _, err := w.runs.Start(t.Context(), r); !errors.Is(err, session.ErrMessageNotFound) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func executionRunsAlone(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	e := w.start(t, child, "call")
	_, _, err := w.runs.Start(t.Context(), w.startOf(child, "call"))
	wantErr(t, err, subagent.ErrExecutionRunning)
	w.start(t, w.child(w.main), "call")
	w.end(t, e)
	w.start(t, child, "call")
}

func executionRaces(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	var won, refused int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, _, err := w.runs.Start(t.Context(), w.startOf(child, "call"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case errors.Is(err, subagent.ErrExecutionRunning):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 || refused != 7 {
		t.Errorf("%d starts won, %d were refused", won, refused)
	}
}

func executionsEndWithSession(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	grandchild := w.child(child)
	outer, inner, done := w.start(t, child, "a"), w.start(t, grandchild, "b"), w.end(t, w.start(t, w.child(child), "c"))
	bystander := w.start(t, w.child(w.main), "d")
	w.say(t, child, user())
	w.say(t, grandchild, user(), works())
	var changes []event.SessionChange
	err := w.store.Executions().InTx(t.Context(), w.taskID, func(ctx context.Context, tx subagent.ExecutionTx) (err error) {
		if _, err := tx.LockTask(ctx, w.taskID); err != nil {
			return err
		}
		changes, err = subagent.EndRunning(ctx, tx, child.ID, subagent.ExecutionCancelled, w.clock())
		return err
	})
	if err != nil || len(changes) != 2 || changes[0].SessionID >= changes[1].SessionID || !changes[0].Messages || !changes[1].Executions {
		t.Fatalf("end running: %+v, %v", changes, err)
	}
	for _, want := range []struct {
		id     string
		status subagent.ExecutionStatus
		end    *int64
	}{
		{outer.ID, subagent.ExecutionCancelled, new(int64(1))},
		{inner.ID, subagent.ExecutionCancelled, new(int64(2))},
		{done.ID, subagent.ExecutionCompleted, new(int64(0))},
		{bystander.ID, subagent.ExecutionRunning, nil},
	} {
		got := w.execution(want.id)
		if got.Status != want.status || (got.EndedAt == nil) != (want.end == nil) || !cmp.Equal(got.EndMessageSeq, want.end) {
			t.Errorf("execution is %+v, want %s", got, want.status)
		}
	}
}

// execution reads an execution.
func (w *historyWorld) execution(id string) (e subagent.Execution) {
	w.t.Helper()
	err := w.store.Executions().InTx(w.t.Context(), w.taskID, func(ctx context.Context, tx subagent.ExecutionTx) (err error) {
		e, err = tx.Execution(ctx, id)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func executionValidates(t *testing.T, w *historyWorld) {
	_, _, err := w.runs.Start(t.Context(), subagent.ExecutionStart{TaskID: w.taskID, AgentType: new("\x00")})
	want := "validation_failed: /body/parent_tool_call_id blank, /body/tool blank, /body/agent_type nul"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// wantBound fails the test unless e is bound to the message of seq, 0 for none.
func (w *historyWorld) wantBound(t *testing.T, e subagent.Execution, seq int64) {
	t.Helper()
	got := w.execution(e.ID)
	switch {
	case seq == 0 && got.ParentMessageID == nil && got.ParentMessageSeq == nil:
	case seq != 0 && got.ParentMessageID != nil && got.ParentMessageSeq != nil && *got.ParentMessageSeq == seq:
	default:
		t.Errorf("execution is bound to %v, want %d", got.ParentMessageSeq, seq)
	}
}

func bindsNewest(t *testing.T, w *historyWorld) {
	w.say(t, w.main, user(), delegates("call_0"), delegates("other", "call_0"), delegates("other"))
	first := w.start(t, w.child(w.main), "call_0")
	w.wantBound(t, first, 3)
	if *first.ParentCallOrdinal != 1 {
		t.Errorf("call is at %d", *first.ParentCallOrdinal)
	}
	w.wantBound(t, w.start(t, w.child(w.main), "call_0"), 2)
	w.wantBound(t, w.start(t, w.child(w.main), "call_0"), 0)
	if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 4); err != nil {
		t.Fatal(err)
	}
	w.wantBound(t, w.start(t, w.child(w.main), "other"), 3)
}

func bindsCurrentRound(t *testing.T, w *historyWorld) {
	w.say(t, w.main, delegates("call_0"), user(), delegates("call_0"), user())
	e := w.start(t, w.child(w.main), "call_0")
	w.wantBound(t, e, 0)
	if _, err := w.history.Rollback(t.Context(), w.taskID, w.main.ID, 4); err != nil {
		t.Fatal(err)
	}
	w.wantBound(t, w.start(t, w.child(w.main), "call_0"), 3)
	w.say(t, w.main, delegates("call_0"))
	w.wantBound(t, e, 5)
}

func bindsNext(t *testing.T, w *historyWorld) {
	w.say(t, w.main, user())
	first, second, third := w.start(t, w.child(w.main), "call_0"), w.start(t, w.child(w.main), "call_0"), w.start(t, w.child(w.main), "call_1")
	w.end(t, first)
	w.notices.take()
	w.say(t, w.main, delegates("call_0", "call_0", "call_1"), delegates("call_0"), delegates("call_0"))
	w.wantBound(t, first, 2)
	w.wantBound(t, second, 3)
	w.wantBound(t, third, 2)
	if told := w.notices.take(); len(told) != 1 || !told[0].Change.Sessions[0].Executions {
		t.Errorf("told of %+v", told)
	}
	w.wantBound(t, w.start(t, w.child(w.main), "call_0"), 4)
}

func bindsDelegations(t *testing.T, w *historyWorld) {
	m := delegates("call")
	m.ToolCalls[0].Name = "Read"
	w.say(t, w.main, user(), m, works())
	e := w.start(t, w.child(w.main), "call")
	w.wantBound(t, e, 0)
	m.ToolCalls[0].Name = "Agent"
	w.say(t, w.main, m)
	w.wantBound(t, e, 4)
}

func bindsGiven(t *testing.T, w *historyWorld) {
	said := w.say(t, w.main, user(), delegates("x", "call"), works(), delegates("call"))
	for seq, ordinal := range map[int64]*int{2: new(1), 3: nil} {
		r := w.startOf(w.child(w.main), "call")
		r.ParentMessageID = &said.Results[seq-1].ID
		e, _, err := w.runs.Start(t.Context(), r)
		if err != nil || !cmp.Equal(e.ParentCallOrdinal, ordinal) {
			t.Errorf("start: %+v, %v", e, err)
		}
		w.wantBound(t, e, seq)
	}
	w.wantBound(t, w.start(t, w.child(w.main), "call"), 4)
}

func bindsFrames(t *testing.T, w *historyWorld) {
	w.say(t, w.main, user(), frame("call", "other"), frame("call", "subagent_task"))
	w.wantBound(t, w.start(t, w.child(w.main), "call"), 3)
	w.wantBound(t, w.start(t, w.child(w.main), "call"), 0)
}

func executionLists(t *testing.T, w *historyWorld) {
	var want []string
	for range 3 {
		want = append(want, w.start(t, w.child(w.main), "call").ID)
	}
	w.start(t, w.child(w.mainIn("/x")), "call")
	got := listed(t, 2, func(r domain.PageRequest) (domain.Page[subagent.Execution], error) {
		return w.runs.List(t.Context(), w.main.ID, r)
	}, func(e subagent.Execution) string { return e.ID })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("list differs:\n%s", diff)
	}
}

func executionStamps(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	w.notices.take()
	e := w.start(t, child, "call")
	w.say(t, child, works("a"))
	w.end(t, e)
	var got []event.SessionChange
	for _, n := range w.notices.take() {
		got = append(got, n.Change.Sessions...)
	}
	want := []event.SessionChange{
		{SessionID: w.main.ID, Executions: true},
		{SessionID: child.ID, Messages: true},
		{SessionID: w.main.ID, Messages: true, Executions: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told differs:\n%s", diff)
	}
	if stored := w.execution(e.ID); !stored.StartedAt.Equal(e.StartedAt.Truncate(time.Microsecond)) {
		t.Errorf("started at %v, want %v", stored.StartedAt, e.StartedAt)
	}
}
