package handlers_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

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
	a.call("POST", "/v1/sessions/"+child+"/messages/rollback", object{"from_seq": 3}).as(access.ScopeRunner).do(a.t).want(a.t, 200)
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
}

func refreshed(a *aggregation) {
	a.say(a.main, asks(), delegating([]string{"c"}, "own"))
	a.run(a.main, a.child(), "c", "a")
	before := a.call("GET", a.task).do(a.t).Body.String()
	for _, path := range []string{"/messages", "/rounds", "/file-changes"} {
		read := func(prefix string, of access.Scope) string {
			return a.call("GET", prefix+a.main+path).as(of).do(a.t).want(a.t, 200).Body.String()
		}
		first := read("/v1/sessions/", access.ScopeUser)
		if diff := cmp.Diff(first, read("/v1/sessions/", access.ScopeRunner)); diff != "" {
			a.t.Errorf("second read of %s:\n%s", path, diff)
		}
		if path == "/messages" {
			if diff := cmp.Diff(first, read("/v1/admin/sessions/", access.ScopeAdmin)); diff != "" {
				a.t.Errorf("an admin reads:\n%s", diff)
			}
		}
	}
	if diff := cmp.Diff(before, a.call("GET", a.task).do(a.t).Body.String()); diff != "" {
		a.t.Errorf("reading wrote:\n%s", diff)
	}
}

func paged(a *aggregation) {
	child := a.child()
	var want []string
	for i := range 6 {
		call := fmt.Sprint("c", i)
		a.say(a.main, asks(), delegating([]string{call}, "own"), did())
		a.run(a.main, child, call, call)
		want = append(want, fmt.Sprintf("%d: own@MAIN %s@SUBAGENT", 3*i+2, call))
	}
	for _, size := range []string{"?rounds=1", "?rounds=4", "?limit=1", "?limit=2", "?limit=5", "?limit=200"} {
		var got []string
		for cursor := ""; ; {
			var page struct {
				More bool  `json:"has_more"`
				Next int64 `json:"next_before"`
			}
			got = append(a.shown(a.main, size+cursor), got...)
			a.read("/v1/sessions/"+a.main+"/messages"+size+cursor, &page)
			if !page.More {
				break
			}
			cursor = fmt.Sprintf("&before=%d", page.Next)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			a.t.Errorf("%s (-want +got):\n%s", size, diff)
		}
	}
	a.call("POST", "/v1/sessions/"+a.main+"/messages/rollback", object{"from_seq": 14}).as(access.ScopeRunner).do(a.t).want(a.t, 200)
	for query, lines := range map[string][]string{ // cursors at messages that are gone
		"?rounds=1&before=17": want[:0], "?rounds=2&before=15": want[3:4], "?limit=200&after=14": want[:0], "?limit=3&after=-7": want[:1],
	} {
		if diff := cmp.Diff(append([]string{}, lines...), a.shown(a.main, query)); diff != "" {
			a.t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func mergedRounds(a *aggregation) {
	child := a.child()
	edit := object{"path": "both", "change_type": "MODIFIED", "before_content": "a\nb\n", "after_content": "a\nb\nc\n"}
	a.say(a.main, asks(), delegating([]string{"c"}, "both", "own"))
	run := a.start(a.main, child, "c")
	a.say(child, object{"role": "assistant", "content": "more", "file_changes": []any{edit}})
	a.end(run, "completed")
	a.say(a.main, asks(), did("own"))
	type entry struct {
		Path  string
		Type  string `json:"change_type"`
		Added int64  `json:"lines_added"`
		After string `json:"after_content"`
	}
	var rounds struct {
		Items []struct {
			Messages, Subagents int
			State               string
			Added               int64   `json:"lines_added"`
			Changes             []entry `json:"file_changes"`
		}
	}
	a.read("/v1/sessions/"+a.main+"/rounds", &rounds)
	got := fmt.Sprintf("%+v", rounds.Items)
	want := "[{Messages:2 Subagents:1 State:completed Added:5 Changes:[" +
		"{Path:both Type:CREATED Added:3 After:a\nb\nc\n} {Path:own Type:CREATED Added:2 After:a\nb\n}]} " +
		"{Messages:2 Subagents:0 State:completed Added:2 Changes:[{Path:own Type:CREATED Added:2 After:a\nb\n}]}]"
	if diff := cmp.Diff(want, got); diff != "" {
		a.t.Errorf("rounds (-want +got):\n%s", diff)
	}
	var all struct{ Items []entry }
	a.read("/v1/sessions/"+a.main+"/file-changes", &all)
	if len(all.Items) != 2 || all.Items[0].Path != "both" || all.Items[1].Added != 4 {
		a.t.Errorf("merged list: %+v", all.Items)
	}
	a.call("PATCH", "/v1/sessions/"+a.main, object{"state": "running"}).as(access.ScopeRunner).do(a.t).want(a.t, 200)
	rounds.Items = nil
	a.read("/v1/sessions/"+a.main+"/rounds", &rounds)
	if first, last := rounds.Items[0], rounds.Items[1]; len(first.Changes) != 2 || last.State != "running" || len(last.Changes) != 0 {
		a.t.Errorf("while the last round runs: %+v", rounds.Items)
	}
}
