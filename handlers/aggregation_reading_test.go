package handlers_test

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain/access"
)

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
	for _, size := range []string{"?rounds=1", "?rounds=4", "?limit=1", "?limit=5"} {
		got, seen := []string{}, int64(0)
		for more := true; more; {
			query := fmt.Sprintf("%s&after=%d", size, seen)
			var page struct {
				More     bool `json:"has_more"`
				Messages []struct{ Seq int64 }
			}
			a.read("/v1/sessions/"+a.main+"/messages"+query, &page)
			got = append(got, a.shown(a.main, query)...)
			more, seen = page.More, page.Messages[len(page.Messages)-1].Seq
		}
		if diff := cmp.Diff(want, got); diff != "" {
			a.t.Errorf("%s, reading on (-want +got):\n%s", size, diff)
		}
	}
	a.rollBack(a.main, 14)
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

// What was said and answered stays as it was told, whoever changed files for it.
func contentStays(a *aggregation) {
	call := delegating([]string{"c"})
	result := object{"role": "tool", "tool_call_id": "c", "content": "the result"}
	a.say(a.main, asks(), call, result)
	said := func() string {
		var page struct {
			Messages []struct {
				Content   string
				ToolCalls any `json:"tool_calls"`
				Metadata  any
				UpdatedAt string `json:"updated_at"`
			}
		}
		a.read("/v1/sessions/"+a.main+"/messages", &page)
		return fmt.Sprint(page.Messages)
	}
	before := said()
	a.run(a.main, a.child(), "c", "a")
	a.want(a.main, "2: a@SUBAGENT")
	if diff := cmp.Diff(before, said()); diff != "" || !strings.Contains(before, "the result") {
		a.t.Errorf("messages (-before +now):\n%s", diff)
	}
}

// A page has room for 8 MiB; what it leaves out is read alone, by who may read the task.
func textsLeftOut(a *aggregation) {
	const size, room = 512 << 10, 16
	text := strings.Repeat(strings.Repeat("0123", 255)+"abc\n", size/1024)
	large := did()
	for i := range room {
		large["file_changes"] = append(large["file_changes"].([]any),
			object{"path": fmt.Sprint("large/", i), "change_type": "CREATED", "after_content": text})
	}
	large["tool_calls"] = delegating([]string{"c"})["tool_calls"]
	a.say(a.main, asks(), large)
	a.run(a.main, a.child(), "c", "small")
	var page struct {
		Messages []struct {
			Changes []struct {
				ID      string
				Omitted bool    `json:"diff_omitted"`
				After   *string `json:"after_content"`
			} `json:"file_changes"`
		}
	}
	a.read("/v1/sessions/"+a.main+"/messages", &page)
	changes := page.Messages[1].Changes
	for i, c := range changes {
		if omitted := i == room; c.Omitted != omitted || (c.After == nil) != omitted {
			a.t.Errorf("change %d: omitted %t", i, c.Omitted)
		}
	}
	path := "/v1/file-changes/" + changes[room].ID
	for _, scope := range []access.Scope{access.ScopeUser, access.ScopeRunner, access.ScopeAdmin} {
		a.call("GET", path).as(scope).do(a.t).want(a.t, 200, `"after_content":"a\nb\n"`, `"diff_omitted":false`, `"source_type":"SUBAGENT"`)
	}
	a.call("GET", path).with("").do(a.t).wantCode(a.t, 401, "unauthenticated")
	a.call("GET", path).with(a.foreign[access.ScopeUser]).do(a.t).wantCode(a.t, 404, "file_change_not_found")
	none := a.call("GET", "/v1/sessions/"+a.main+"/messages?diffs=none").as(access.ScopeUser).do(a.t).want(a.t, 200, `"diff_omitted":true`)
	if body := none.Body.String(); strings.Contains(body, strings.Repeat("0123", 10)) || strings.Contains(body, `"diff_omitted":false`) {
		a.t.Error("diffs=none has a text")
	}
}

// One file has many names, and one entry.
func pathsOfOneFile(a *aggregation) {
	for workspace, paths := range map[string][]string{
		"/work":        {"/work/src/a.go", "src/a.go", "./src/../src/a.go", "/work/../work/src/a.go"},
		`C:\work`:      {`C:\work\src\a.go`, `src\a.go`, "C:/work/src/a.go", `\work\src/a.go`},
		`\\srv\s\work`: {`\\srv\s\work\src\a.go`, `//srv/s\work/src/a.go`, `..\work\src\a.go`},
	} {
		main := a.call("POST", a.task+"/sessions", object{"kind": "main", "workspace_path": workspace}).do(a.t).want(a.t, 201).id(a.t)
		child := a.sub("subagent", main)
		a.say(main, asks(), delegating([]string{"c"}, paths[1:]...))
		a.run(main, child, "c", paths[0], "../workshop/src/a.go")
		var list struct {
			Items []struct {
				Key   string `json:"path_key"`
				Added int64  `json:"lines_added"`
			}
		}
		a.read("/v1/sessions/"+main+"/file-changes", &list)
		if len(list.Items) != 2 || list.Items[0].Key != "src/a.go" || list.Items[0].Added != int64(2*len(paths)) ||
			!strings.HasSuffix(list.Items[1].Key, "/workshop/src/a.go") {
			a.t.Errorf("in %s: %+v", workspace, list.Items)
		}
	}
}
