package handlers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain/access"
)

// aggregation is a task whose agents delegate, as its runner and a client see it.
type aggregation struct {
	*stack
	t    *testing.T
	task string // path
	main string
}

// The cases of the design, each in a task of its own. "2: a@MAIN b@SUBAGENT" is that
// the message with seq 2 shows the changes of a, its own, and of b, a subagent's.
func TestAggregation(t *testing.T) {
	cases := map[string]func(a *aggregation){
		"HI-1 HI-6 own changes, and then a subagent's":             ownAndSubagent,
		"HI-6 parallel delegations, in the order of their calls":   parallel,
		"HI-2 a follow-up shows on its own message":                followUp,
		"HI-2 a failed and a cancelled run show what they saved":   failedAndCancelled,
		"HI-3 a running one shows nothing":                         running,
		"HI-3 a crashed one ends where the next begins":            crashed,
		"HI-4 a rolled-back follow-up stays":                       rolledBack,
		"HI-4 HI-22 so does what it delegated":                     nestedRolledBack,
		"HI-5 legacy runs show nothing":                            legacy,
		"HI-6 a call id that comes again":                          reusedCall,
		"HI-6 a run that waits for its message":                    lateMessage,
		"HI-6 a frame that carries the call":                       carriedByFrame,
		"HI-6 another tool with the same call id":                  otherTool,
		"HI-8 many names of one file":                              pathsOfOneFile,
		"HI-9 a record that is sent again":                         sentAgain,
		"HI-10 the end of a session ends its runs":                 endedWithSession,
		"HI-20 a subagent's own history":                           ownHistory,
		"HI-21 a side task":                                        sideTask,
		"HI-22 a delegation within one":                            nested,
		"HI-24 texts that are left out, and who may read them":     textsLeftOut,
		"HI-24 rounds merge what they show":                        mergedRounds,
		"HI-25 a deleted child":                                    deletedChild,
		"HI-25 HI-10 a child that is deleted while it runs":        deletedWhileRunning,
		"HI-25 messages stay as they were told":                    contentStays,
		"HI-25 HI-26 a refresh and an admin read the same":         refreshed,
		"HI-23 HI-25 changes stay on their message, page for page": paged,
	}
	eachStack(t, func(t *testing.T, s *stack) {
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				task := s.task(t)
				test(&aggregation{s, t, task, s.session(t, task)})
			})
		}
	})
}

// sub makes a session of a kind below another.
func (a *aggregation) sub(kind, parent string) string {
	a.t.Helper()
	return a.call("POST", a.task+"/sessions", object{"kind": kind, "parent_session_id": parent, "agent_type": "coder"}).do(a.t).want(a.t, 201).id(a.t)
}

func (a *aggregation) child() string { a.t.Helper(); return a.sub("subagent", a.main) }

func (a *aggregation) say(session string, messages ...any) {
	a.t.Helper()
	a.call("POST", "/v1/sessions/"+session+"/messages", object{"messages": messages}).as(access.ScopeRunner).do(a.t).want(a.t, 200)
}

// asks is a person's message, which opens a round.
func asks() object { return object{"role": "user", "content": "go on"} }

// delegating is a message that delegates, and did some work itself.
func delegating(ids []string, paths ...string) object {
	m := did(paths...)
	issued := []any{}
	for _, id := range ids {
		issued = append(issued, object{"id": id, "name": "delegate", "arguments": "{}"})
	}
	m["tool_calls"] = issued
	return m
}

// did is a message that made files.
func did(paths ...string) object {
	changes := []any{}
	for _, path := range paths {
		changes = append(changes, object{"path": path, "change_type": "CREATED", "after_content": "a\nb\n"})
	}
	return object{"role": "assistant", "content": "done", "file_changes": changes}
}

// start starts a run and returns its path.
func (a *aggregation) start(parent, child, call string) string {
	a.t.Helper()
	return a.call("POST", "/v1/sessions/"+parent+"/subagent-executions",
		object{"parent_tool_call_id": call, "child_session_id": child, "tool": "delegate"}).
		as(access.ScopeRunner).do(a.t).want(a.t, 201).Header().Get("Location")
}

func (a *aggregation) end(run, status string) {
	a.t.Helper()
	a.call("PATCH", run, object{"status": status}).as(access.ScopeRunner).do(a.t).want(a.t, 200)
}

// run is a run from its start to its end.
func (a *aggregation) run(parent, child, call string, paths ...string) {
	a.t.Helper()
	started := a.start(parent, child, call)
	a.say(child, asks(), did(paths...))
	a.end(started, "completed")
}

// shown is what the messages of a page show, those that show nothing left out.
func (a *aggregation) shown(session, query string) []string {
	a.t.Helper()
	got := []string{}
	var page struct {
		Messages []struct {
			Seq         int64
			FileChanges []struct {
				Path       string
				SourceType string `json:"source_type"`
			} `json:"file_changes"`
		}
	}
	a.read("/v1/sessions/"+session+"/messages"+query, &page)
	for _, m := range page.Messages {
		var changes []string
		for _, c := range m.FileChanges {
			changes = append(changes, c.Path+"@"+c.SourceType)
		}
		if len(changes) > 0 {
			got = append(got, fmt.Sprintf("%d: %s", m.Seq, strings.Join(changes, " ")))
		}
	}
	return got
}

func (a *aggregation) read(path string, into any) {
	a.t.Helper()
	answered := a.call("GET", path).as(access.ScopeUser).do(a.t).want(a.t, 200)
	if err := json.Unmarshal(answered.Body.Bytes(), into); err != nil {
		a.t.Fatal(err)
	}
}

func (a *aggregation) rollBack(session string, from int) {
	a.t.Helper()
	a.call("POST", "/v1/sessions/"+session+"/messages/rollback", object{"from_seq": from}).as(access.ScopeRunner).do(a.t).want(a.t, 200)
}

func (a *aggregation) want(session string, lines ...string) {
	a.t.Helper()
	if diff := cmp.Diff(append([]string{}, lines...), a.shown(session, "?limit=200")); diff != "" {
		a.t.Errorf("history (-want +got):\n%s", diff)
	}
}
