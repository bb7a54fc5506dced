package storetest

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// History is what every history.Store must do when a history is read.
func History(t *testing.T, open Open) {
	historyCases(t, open, map[string]func(*testing.T, *historyWorld){
		"own changes, then the runs of each call":                             showsRuns,
		"HI-3 a running execution shows nothing":                              showsNoRunning,
		"HI-3 a crash ends at the next start, or the last seq":                showsCrashed,
		"HI-4 a rolled-back follow-up stays, and is not repeated":             showsRolledBack,
		"HI-5 legacy executions show nothing":                                 showsNoLegacy,
		"HI-6 a reused call id shows each change once":                        showsReusedCalls,
		"HI-20 a subagent shows its own and what it delegated":                showsSubagent,
		"HI-21 a side task is a task of its own":                              showsNoSideTask,
		"HI-22 nested runs, in the place of their message":                    showsNested,
		"HI-22 eight levels deep":                                             showsDepth,
		"HI-22 a cycle ends":                                                  showsCycle,
		"HI-24 diffs=none, and a change in full":                              showsNoDiffs,
		"HI-24 a page carries at most 8 MiB of text":                          showsSomeDiffs,
		"HI-25 a deleted child stays in its parent's history":                 showsDeletedChild,
		"HI-25 reading twice is reading the same":                             showsTheSame,
		"tool messages stand behind their call":                               showsToolMessages,
		"parameters are judged":                                               pageValidates,
		"pages of rounds":                                                     pagesRounds,
		"pages of messages":                                                   pagesMessages,
		"a long round continues on the next page":                             pagesLongRound,
		"a page ends where its text would not fit in memory":                  pagesLongTexts,
		"rounds with their merged changes":                                    listsRounds,
		"a running round has no list yet":                                     listsRunningRound,
		"the merged list of a session is paged":                               listsChanges,
		"API-7 a list goes on while files are joined":                         listsWhileJoined,
		"API-7 a list goes on while a run ends":                               listsWhileRunEnds,
		"API-7 a list goes on while messages are rolled back":                 listsWhileRolledBack,
		"HI-24 a file that was edited often has its texts":                    listsOftenEdited,
		"HI-24 what is left out can be read alone":                            showsLeftOut,
		"invariant 5: each saved change once, where it was delegated (QU-23)": historyModel,
	})
}

// frame is the message of a tool call, as a frame of an agent makes it.
func frame(callID, kind string) history.NewMessage {
	return history.NewMessage{
		Role: session.RoleTool, Type: session.TypeToolCall, ToolCallID: &callID,
		Owned: map[string]json.RawMessage{"normalized": json.RawMessage(`{"kind": "` + kind + `"}`)},
	}
}

// run starts a run of child, has it change files, and ends it.
func (w *historyWorld) run(child session.Session, callID string, paths ...string) subagent.Execution {
	w.t.Helper()
	e := w.start(w.t, child, callID)
	w.say(w.t, child, user(), works(paths...))
	return w.end(w.t, e)
}

func showsRuns(t *testing.T, w *historyWorld) {
	m := delegates("first", "second")
	m.FileChanges = works("own/1", "own/2").FileChanges
	w.say(t, w.main, user(), m, works("later"))
	a, b := w.child(w.main), w.child(w.main)
	second := w.run(b, "second", "b/1", "b/2")
	w.run(a, "first", "a/1")
	r := w.startOf(a, "second") // a follow-up that was told its message
	r.ParentMessageID = second.ParentMessageID
	followUp, _, err := w.runs.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	w.say(t, a, works("a/2"))
	w.end(t, followUp)
	w.wantShown(t, w.main, map[int64][]string{2: {"own/1", "own/2", "a/1", "b/1", "b/2", "a/2"}, 3: {"later"}})

	page := w.read(t, w.main, history.PageQuery{})
	own, theirs := page.Messages[1].FileChanges[0], page.Messages[1].FileChanges[3]
	if own.SourceType != history.SourceMain || own.SourceSessionID != w.main.ID || own.SourceExecutionID != nil || own.SourceAgentType != nil {
		t.Errorf("own change is %+v", own)
	}
	if theirs.SourceType != history.SourceSubagent || theirs.SourceSessionID != b.ID ||
		*theirs.SourceExecutionID != second.ID || *theirs.SourceAgentType != "coder" {
		t.Errorf("change of a run is %+v", theirs)
	}
	if *theirs.AfterContent != "a\nb\n" || *theirs.LinesAdded != 2 || theirs.DiffMode != history.Snapshot || theirs.DiffOmitted {
		t.Errorf("change of a run is %+v", theirs)
	}
}

func showsNoRunning(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	w.say(t, w.main, user(), delegates("call"))
	e := w.start(t, child, "call")
	w.say(t, child, works("a"))
	w.wantShown(t, w.main, map[int64][]string{})
	w.end(t, e)
	w.say(t, child, works("after the end"))
	w.wantShown(t, w.main, map[int64][]string{2: {"a"}})
}

// crash stores a run that is terminal without an end.
func (w *historyWorld) crash(t failer, child session.Session, run int, start int64, message history.Appended) {
	t.Helper()
	w.insert(t, subagent.Execution{
		ParentSessionID: *child.ParentSessionID, ParentToolCallID: new("call"), ParentMessageID: &message.ID,
		ParentMessageSeq: &message.Seq, ChildSessionID: child.ID, Run: run, Tool: "Task",
		Status: subagent.ExecutionFailed, StartMessageSeq: &start,
	})
}

func showsCrashed(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	said := w.say(t, w.main, user(), delegates("call"), delegates("call")).Results
	w.crash(t, child, 1, 0, said[1])
	w.crash(t, child, 2, 0, said[1])
	w.say(t, child, works("a"), works("b"))
	w.wantShown(t, w.main, map[int64][]string{2: {"a", "b"}})
	w.end(t, w.start(t, child, "call"))
	w.say(t, child, works("c"))
	w.wantShown(t, w.main, map[int64][]string{2: {"a", "b"}})
}

func showsRolledBack(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	w.say(t, w.main, user(), delegates("one", "two", "three"))
	w.run(child, "one", "a")
	w.run(child, "two", "b")
	if _, err := w.history.Rollback(t.Context(), w.taskID, child.ID, 3); err != nil {
		t.Fatal(err)
	}
	w.run(child, "three", "c")
	w.wantShown(t, w.main, map[int64][]string{2: {"a", "b", "c"}})
	w.wantShown(t, child, map[int64][]string{2: {"a"}, 6: {"c"}})
}

func showsNoLegacy(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	said := w.say(t, w.main, user(), delegates("call")).Results[1]
	w.say(t, child, works("a"))
	e := subagent.Execution{
		ParentSessionID: w.main.ID, ParentMessageID: &said.ID, ParentMessageSeq: &said.Seq, ChildSessionID: child.ID,
		Run: 1, Tool: "Task", Status: subagent.ExecutionCompleted, EndMessageSeq: new(int64(1)),
	}
	e.ParentToolCallID = new("call")
	w.insert(t, e)
	e.ParentToolCallID, e.StartMessageSeq, e.Run = nil, new(int64(0)), 2
	w.insert(t, e)
	w.wantShown(t, w.main, map[int64][]string{})
}

func showsReusedCalls(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	for i := range 3 {
		w.say(t, w.main, user(), delegates("call_0"))
		w.run(child, "call_0", strconv.Itoa(i))
	}
	w.wantShown(t, w.main, map[int64][]string{2: {"0"}, 4: {"1"}, 6: {"2"}})
}

func showsSubagent(t *testing.T, w *historyWorld) {
	child, sibling := w.child(w.main), w.child(w.main)
	grandchild := w.child(child)
	m := delegates("a", "b")
	m.FileChanges = works("parent's").FileChanges
	w.say(t, w.main, user(), m)
	w.run(sibling, "b", "sibling's")
	e := w.start(t, child, "a")
	w.say(t, child, user(), delegates("c"), works("own"))
	w.run(grandchild, "c", "grandchild's")
	w.end(t, e)
	w.wantShown(t, child, map[int64][]string{2: {"grandchild's"}, 3: {"own"}})
	page := w.read(t, child, history.PageQuery{})
	own := page.Messages[2].FileChanges[0]
	if own.SourceType != history.SourceSubagent || *own.SourceAgentType != "coder" || own.SourceExecutionID != nil {
		t.Errorf("own change of a subagent is %+v", own)
	}
	w.wantShown(t, w.main, map[int64][]string{2: {"parent's", "grandchild's", "own", "sibling's"}})
}

func showsNoSideTask(t *testing.T, w *historyWorld) {
	side := w.session(w.taskID, session.KindSideTask, &w.main.ID)
	its := w.child(side)
	said := w.say(t, w.main, user(), delegates("call")).Results[1]
	child := w.child(w.main)
	e := w.start(t, child, "call")
	below := w.say(t, child, delegates("deep"), works("child's")).Results[0]
	w.say(t, side, user(), delegates("deep"), works("side"))
	w.run(its, "deep", "its subagent's")
	w.insert(t, subagent.Execution{
		ParentSessionID: w.main.ID, ParentToolCallID: new("call"), ParentMessageID: &said.ID, ParentMessageSeq: &said.Seq,
		ChildSessionID: side.ID, Run: 1, Tool: "Task", Status: subagent.ExecutionCompleted,
		StartMessageSeq: new(int64(0)), EndMessageSeq: new(int64(3)),
	})
	w.wantShown(t, w.main, map[int64][]string{})
	w.wantShown(t, side, map[int64][]string{2: {"its subagent's"}, 3: {"side"}})
	w.insert(t, subagent.Execution{ // from below as well
		ParentSessionID: child.ID, ParentToolCallID: new("deep"), ParentMessageID: &below.ID, ParentMessageSeq: &below.Seq,
		ChildSessionID: side.ID, Run: 2, Tool: "Task", Status: subagent.ExecutionCompleted,
		StartMessageSeq: new(int64(0)), EndMessageSeq: new(int64(3)),
	})
	w.end(t, e)
	w.wantShown(t, w.main, map[int64][]string{2: {"child's"}})
	if got := w.read(t, side, history.PageQuery{}).Messages[2].FileChanges[0]; got.SourceType != history.SourceMain {
		t.Errorf("own change of a side task is %s", got.SourceType)
	}
}

func showsNested(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	left, right := w.child(child), w.child(child)
	w.say(t, w.main, user(), delegates("call"))
	w.say(t, child, delegates("before the run"))
	w.run(left, "before the run", "outside")
	e := w.start(t, child, "call")
	m := delegates("one", "two")
	m.FileChanges = works("1").FileChanges
	w.say(t, child, user(), m, works("4"))
	w.run(right, "two", "3")
	w.run(left, "one", "2")
	unfinished := w.child(child)
	w.say(t, child, delegates("unfinished"), works("5"))
	w.start(t, unfinished, "unfinished")
	w.say(t, unfinished, works("not yet"))
	w.end(t, e)
	w.wantShown(t, w.main, map[int64][]string{2: {"1", "2", "3", "4", "5"}})
}

func showsDepth(t *testing.T, w *historyWorld) {
	parent := w.main
	var want []string
	var runs []subagent.Execution
	for depth := 1; depth <= 10; depth++ {
		child := w.child(parent)
		w.say(t, parent, user(), delegates("call"))
		runs = append(runs, w.start(t, child, "call"))
		w.say(t, child, works(strconv.Itoa(depth)))
		if depth <= domain.MaxNesting {
			want = append(want, strconv.Itoa(depth))
		}
		parent = child
	}
	for _, e := range runs {
		w.end(t, e)
	}
	w.wantShown(t, w.main, map[int64][]string{2: want})
}

func showsCycle(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	w.say(t, w.main, user(), delegates("call"), works("own"))
	e := w.start(t, child, "call")
	said := w.say(t, child, delegates("back"), works("child's")).Results[0]
	for i, to := range []session.Session{w.main, child} {
		w.insert(t, subagent.Execution{
			ParentSessionID: child.ID, ParentToolCallID: new("back"), ParentMessageID: &said.ID, ParentMessageSeq: &said.Seq,
			ChildSessionID: to.ID, Run: 10 + i, Tool: "Task", Status: subagent.ExecutionCompleted,
			StartMessageSeq: new(int64(0)), EndMessageSeq: new(int64(math.MaxInt64)),
		})
	}
	w.end(t, e)
	w.wantShown(t, w.main, map[int64][]string{2: {"child's"}, 3: {"own"}})
	w.wantShown(t, child, map[int64][]string{1: {"own"}, 2: {"child's"}})
}

func showsDeletedChild(t *testing.T, w *historyWorld) {
	child := w.child(w.main)
	grandchild := w.child(child)
	w.say(t, w.main, user(), delegates("call"))
	e := w.start(t, child, "call")
	w.say(t, child, delegates("deep"), works("a"))
	w.run(grandchild, "deep", "b")
	w.end(t, e)
	before := w.read(t, w.main, history.PageQuery{})
	w.deleteSession(child.ID)
	w.deleteSession(grandchild.ID)
	if diff := cmp.Diff(before, w.read(t, w.main, history.PageQuery{})); diff != "" {
		t.Errorf("history differs:\n%s", diff)
	}
	full, err := w.history.FileChange(t.Context(), before.Messages[1].FileChanges[0].ID)
	if err != nil || full.SourceType != history.SourceSubagent {
		t.Errorf("change in full is %+v, %v", full, err)
	}
}

func showsTheSame(t *testing.T, w *historyWorld) {
	w.say(t, w.main, user(), delegates("call"))
	w.run(w.child(w.main), "call", "a")
	w.notices.take()
	before, err := w.tasks.Get(t.Context(), w.taskID)
	if err != nil {
		t.Fatal(err)
	}
	first, second := w.read(t, w.main, history.PageQuery{}), w.read(t, w.main, history.PageQuery{})
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("second read differs:\n%s", diff)
	}
	after, err := w.tasks.Get(t.Context(), w.taskID)
	if diff := cmp.Diff(before, after); err != nil || diff != "" || len(w.notices.take()) > 0 {
		t.Errorf("reading wrote: %v\n%s", err, diff)
	}
}

func showsToolMessages(t *testing.T, w *historyWorld) {
	answer := func(id string) history.NewMessage {
		return history.NewMessage{Role: session.RoleTool, ToolCallID: &id}
	}
	w.say(t, w.main, user(), delegates("a", "b"), works(), answer("b"), answer("orphan"), answer("a"))
	page := w.read(t, w.main, history.PageQuery{})
	if diff := cmp.Diff([]int64{1, 2, 4, 6, 3, 5}, seqsOf(page)); diff != "" {
		t.Errorf("order differs:\n%s", diff)
	}
	first := w.read(t, w.main, history.PageQuery{Limit: new(3)})
	if diff := cmp.Diff([]int64{4, 5, 6}, seqsOf(first)); diff != "" || *first.NextBefore != 4 {
		t.Errorf("next before %d:\n%s", *first.NextBefore, diff)
	}
}
