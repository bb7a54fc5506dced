package handlers_test

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/subagent"
)

func ownAndSubagent(a *aggregation) {
	a.say(a.main, asks(), delegating([]string{"c"}, "own"), did("later"))
	a.run(a.main, a.child(), "c", "sub/1", "sub/2")
	a.want(a.main, "2: own@MAIN sub/1@SUBAGENT sub/2@SUBAGENT", "3: later@MAIN")
}

func parallel(a *aggregation) {
	a.say(a.main, asks(), delegating([]string{"first", "second"}))
	one, two := a.child(), a.child()
	second, first := a.start(a.main, two, "second"), a.start(a.main, one, "first")
	a.say(two, did("2a"))
	a.say(one, did("1a"))
	a.say(two, did("2b"))
	a.end(second, "completed")
	a.want(a.main, "2: 2a@SUBAGENT 2b@SUBAGENT")
	a.end(first, "completed")
	a.want(a.main, "2: 1a@SUBAGENT 2a@SUBAGENT 2b@SUBAGENT")
}

func followUp(a *aggregation) {
	child := a.child()
	a.say(a.main, asks(), delegating([]string{"c1"}))
	a.run(a.main, child, "c1", "first")
	a.say(a.main, asks(), delegating([]string{"c2"}))
	a.run(a.main, child, "c2", "second")
	a.want(a.main, "2: first@SUBAGENT", "4: second@SUBAGENT")
}

func failedAndCancelled(a *aggregation) {
	a.say(a.main, asks(), delegating([]string{"c1", "c2"}))
	for call, status := range map[string]string{"c1": "failed", "c2": "cancelled"} {
		child := a.child()
		run := a.start(a.main, child, call)
		a.say(child, did("saved/"+call))
		a.end(run, status)
		a.end(run, "completed") // terminal is final (HI-2)
		a.say(child, did("behind the end"))
	}
	a.want(a.main, "2: saved/c1@SUBAGENT saved/c2@SUBAGENT")
}

func running(a *aggregation) {
	a.say(a.main, asks(), delegating([]string{"c"}, "own"))
	child := a.child()
	run := a.start(a.main, child, "c")
	a.say(child, did("not yet"))
	a.want(a.main, "2: own@MAIN")
	a.end(run, "completed")
	a.want(a.main, "2: own@MAIN not yet@SUBAGENT")
}

func endedWithSession(a *aggregation) {
	a.say(a.main, asks(), delegating([]string{"c"}))
	child := a.child()
	a.start(a.main, child, "c")
	a.say(child, did("saved"))
	a.call("PATCH", "/v1/sessions/"+child, object{"state": "failed"}).as(access.ScopeRunner).do(a.t).want(a.t, 200)
	a.want(a.main, "2: saved@SUBAGENT")
}

func rolledBack(a *aggregation) {
	child := a.child()
	a.say(a.main, asks(), delegating([]string{"c1", "c2", "c3"}))
	a.run(a.main, child, "c1", "first")
	a.run(a.main, child, "c2", "second")
	a.rollBack(child, 3)
	a.run(a.main, child, "c3", "third")
	a.want(a.main, "2: first@SUBAGENT second@SUBAGENT third@SUBAGENT")
	a.want(child, "2: first@SUBAGENT", "6: third@SUBAGENT")
}

// No request makes a legacy run: it was stored without its call, or without its start.
func legacy(a *aggregation) {
	child := a.child()
	a.say(a.main, asks(), delegating([]string{"c"}, "own"))
	a.say(child, did("unattributed"))
	message := a.call("GET", "/v1/sessions/"+a.main+"/messages").do(a.t).text(a.t, "messages", 1, "id")
	task := strings.TrimPrefix(a.task, "/v1/tasks/")
	for run, e := range []subagent.Execution{
		{ParentToolCallID: new("c")}, {StartMessageSeq: new(int64(0))},
	} {
		e.ID, e.TaskID, e.ParentSessionID, e.ChildSessionID, e.Tool, e.Run = domain.NewID(), task, a.main, child, "delegate", run+1
		e.ParentMessageID, e.ParentMessageSeq, e.ParentCallOrdinal = &message, new(int64(2)), new(0)
		e.Status, e.EndMessageSeq = subagent.ExecutionCompleted, new(int64(1))
		err := a.store.Executions().InTx(a.t.Context(), task, func(ctx context.Context, tx subagent.ExecutionTx) error {
			_, err := tx.InsertExecution(ctx, e)
			return err
		})
		if err != nil {
			a.t.Fatal(err)
		}
	}
	a.want(a.main, "2: own@MAIN")
}

func reusedCall(a *aggregation) {
	child := a.child()
	for round := range 3 {
		a.say(a.main, asks(), delegating([]string{"call_0"}))
		a.run(a.main, child, "call_0", fmt.Sprint("round ", round+1))
	}
	a.want(a.main, "2: round 1@SUBAGENT", "4: round 2@SUBAGENT", "6: round 3@SUBAGENT")
}

// A delegation of an earlier round that never got a child does not catch it.
func lateMessage(a *aggregation) {
	child := a.child()
	a.say(a.main, asks(), delegating([]string{"c"}), asks())
	a.run(a.main, child, "c", "a")
	a.want(a.main)
	a.say(a.main, delegating([]string{"c"}))
	a.want(a.main, "4: a@SUBAGENT")
}

func carriedByFrame(a *aggregation) {
	child := a.child()
	a.say(a.main, asks())
	frame := func(kind string) object {
		return object{"frame": "tool_call", "tool_call_id": "c", "normalized": object{"kind": kind}}
	}
	tell := func(frame object) {
		a.call("POST", "/v1/sessions/"+a.main+"/frames", object{"frames": []any{frame}}).as(access.ScopeRunner).do(a.t).want(a.t, 200)
	}
	tell(frame("read"))
	a.run(a.main, child, "c", "a")
	a.want(a.main) // no delegation carries the call yet
	tell(frame("subagent_task"))
	a.want(a.main, "2: a@SUBAGENT")
}

func ownHistory(a *aggregation) {
	child, sibling := a.child(), a.child()
	grandchild := a.sub("subagent", child)
	a.say(a.main, asks(), delegating([]string{"c1", "c2"}, "parent's"))
	a.run(a.main, sibling, "c2", "sibling's")
	run := a.start(a.main, child, "c1")
	a.say(child, asks(), delegating([]string{"deep"}, "own"))
	a.run(child, grandchild, "deep", "grandchild's")
	a.end(run, "completed")
	a.want(child, "2: own@SUBAGENT grandchild's@SUBAGENT")
}

func sideTask(a *aggregation) {
	side := a.sub("side_task", a.main)
	its := a.sub("subagent", side)
	a.say(a.main, asks(), did("main's"))
	a.say(side, asks(), delegating([]string{"c"}, "side's"))
	a.run(side, its, "c", "its subagent's")
	a.want(a.main, "2: main's@MAIN")
	a.want(side, "2: side's@MAIN its subagent's@SUBAGENT")
	a.call("POST", "/v1/sessions/"+a.main+"/subagent-executions",
		object{"parent_tool_call_id": "c", "child_session_id": side, "tool": "delegate"}).do(a.t).wantCode(a.t, 404, "session_not_found")
}

func nested(a *aggregation) {
	child := a.child()
	grandchild := a.sub("subagent", child)
	a.say(a.main, asks(), delegating([]string{"c"}))
	run := a.start(a.main, child, "c")
	a.say(child, asks(), delegating([]string{"deep"}, "1"))
	a.run(child, grandchild, "deep", "2")
	a.say(child, did("3"))
	a.end(run, "completed")
	a.want(a.main, "2: 1@SUBAGENT 2@SUBAGENT 3@SUBAGENT")
}

func deletedChild(a *aggregation) {
	child := a.child()
	a.say(a.main, asks(), delegating([]string{"c"}, "own"))
	a.run(a.main, child, "c", "child's")
	a.call("DELETE", "/v1/sessions/"+child).do(a.t).want(a.t, 204)
	a.want(a.main, "2: own@MAIN child's@SUBAGENT")
	change := a.call("GET", "/v1/sessions/"+a.main+"/messages").do(a.t).text(a.t, "messages", 1, "file_changes", 1, "id")
	a.call("GET", "/v1/file-changes/"+change).as(access.ScopeUser).do(a.t).want(a.t, 200, `"after_content":"a\nb\n"`)
	a.call("DELETE", a.task).do(a.t).want(a.t, 204) // they go with the task
	a.call("GET", "/v1/file-changes/"+change).do(a.t).wantCode(a.t, 404, "file_change_not_found")
}

// The rollback of a run does not take back what it delegated in turn.
func nestedRolledBack(a *aggregation) {
	child := a.child()
	grandchild := a.sub("subagent", child)
	a.say(a.main, asks(), delegating([]string{"c1", "c2"}))
	for _, call := range []string{"c1", "c2"} {
		run := a.start(a.main, child, call)
		a.say(child, asks(), delegating([]string{"call_0"}, call))
		a.run(child, grandchild, "call_0", "deep/"+call)
		a.end(run, "completed")
	}
	a.rollBack(child, 3)
	a.want(a.main, "2: c1@SUBAGENT deep/c1@SUBAGENT c2@SUBAGENT deep/c2@SUBAGENT")
	a.want(child, "2: c1@SUBAGENT deep/c1@SUBAGENT")
	a.want(grandchild, "2: deep/c1@SUBAGENT", "4: deep/c2@SUBAGENT")
}

// The deletion ends the run, which shows what it had saved.
func deletedWhileRunning(a *aggregation) {
	child := a.child()
	a.say(a.main, asks(), delegating([]string{"c"}))
	run := a.start(a.main, child, "c")
	a.say(child, did("saved"))
	a.want(a.main)
	a.call("DELETE", "/v1/sessions/"+child).do(a.t).want(a.t, 204)
	a.want(a.main, "2: saved@SUBAGENT")
	a.call("PATCH", run, object{"status": "completed"}).as(access.ScopeRunner).do(a.t).want(a.t, 200, `"status":"cancelled"`)
}

// A resumed agent that sends its record again adds nothing, and binds nothing again.
func sentAgain(a *aggregation) {
	ask, call := asks(), delegating([]string{"c"}, "own")
	ask["id"], call["id"] = domain.NewID(), domain.NewID()
	a.say(a.main, ask, call)
	a.run(a.main, a.child(), "c", "a")
	waiting := a.start(a.main, a.child(), "c")
	a.say(a.main, ask, call)
	a.end(waiting, "completed")
	a.want(a.main, "2: own@MAIN a@SUBAGENT")
}

// Only delegation tools delegate, whatever else has the same id.
func otherTool(a *aggregation) {
	read := delegating([]string{"c"}, "own")
	read["tool_calls"].([]any)[0].(object)["name"] = "Read"
	a.say(a.main, asks(), delegating([]string{"c"}), read)
	a.run(a.main, a.child(), "c", "a")
	a.want(a.main, "2: a@SUBAGENT", "3: own@MAIN")
}

// A crashed run ends where the next one of its child begins. No request leaves a run
// terminal without its end: the process that would have written it is gone.
func crashed(a *aggregation) {
	child := a.child()
	a.say(a.main, asks(), delegating([]string{"c1", "c2"}))
	run := a.start(a.main, child, "c1")
	a.say(child, did("first"))
	task := strings.TrimPrefix(a.task, "/v1/tasks/")
	err := a.store.Executions().InTx(a.t.Context(), task, func(ctx context.Context, tx subagent.ExecutionTx) error {
		e, err := tx.Execution(ctx, run[strings.LastIndex(run, "/")+1:])
		if err != nil {
			return err
		}
		e.Status = subagent.ExecutionFailed
		return tx.EndExecution(ctx, e)
	})
	if err != nil {
		a.t.Fatal(err)
	}
	a.say(child, did("behind it"))
	a.want(a.main, "2: first@SUBAGENT behind it@SUBAGENT")
	a.run(a.main, child, "c2", "second")
	a.say(child, did("of no run"))
	a.want(a.main, "2: first@SUBAGENT behind it@SUBAGENT second@SUBAGENT")
}
