package db_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/subagent"
)

// at is a time of a scene, in microseconds behind its start.
func at(micros int) time.Time { return sceneStart.Add(time.Duration(micros) * time.Microsecond) }

// backfilled is a context with all that the backfill says of every row.
func (w *contextScene) backfilled(id, call string, observed time.Time, with func(*subagent.Context)) subagent.Context {
	c := subagent.Context{
		ID: id, TaskSessionID: w.session, TaskID: w.task, AgentExecutionID: "unknown", ToolCallID: call,
		Source: subagent.SourceBackfill, ObservedAt: observed,
	}
	if with != nil {
		with(&c)
	}
	return c
}

// SC-30: a database of before there were contexts has them behind its next start, each
// from the newest message of its call, and a replay changes nothing (SC-32).
func TestBackfillOfThePreviousSchema(t *testing.T) {
	eachPrevious(t, func(t *testing.T, s *db.Store) {
		w := newContextScene(t, s)
		w.tell(told{created: at(1), metadata: call("twice", `"model":"old"`)})
		newest := w.tell(told{created: at(3), metadata: call("twice", `"model":"new"`)})
		w.tell(told{created: at(2), metadata: call("twice", `"model":"late"`)})
		w.tell(told{id: "00000000-0000-7000-8000-000000000001", created: at(4), metadata: call("same time", `"model":"less"`)})
		greatest := w.tell(told{id: "00000000-0000-7000-8000-000000000002", created: at(4), metadata: call("same time", `"model":"more"`)})
		whole := w.tell(told{turn: "turn", created: at(5), updated: at(6), metadata: `{"tool_call_id":"whole","parent_tool_call_id":"outer",
			"status":"completed","normalized":{"kind":"subagent_task","subagent_task":{"status":"running","subagent_type":"coder","description":"d",
			"agent_id":"a","child_session_id":"c","model":"m","is_async":true,"total_tokens":10,"tool_use_count":0,"duration_ms":30}}}`})
		bare := w.tell(told{turn: "", created: at(7), metadata: `{"tool_call_id":"bare","parent_tool_call_id":"","status":"Completed",
			"normalized":{"kind":"subagent_task","subagent_task":{"status":"","subagent_type":"","model":"","total_tokens":0,"duration_ms":0}}}`})
		w.addSession("other session")
		w.tell(told{session: "other session", created: at(8), metadata: call("twice", "")})

		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Activate(t.Context())
		want := []subagent.Context{
			w.backfilled(newest, "twice", at(3), func(c *subagent.Context) { c.Model = new("new") }),
			w.backfilled(greatest, "same time", at(4), func(c *subagent.Context) { c.Model = new("more") }),
			w.backfilled(whole, "whole", at(5), func(c *subagent.Context) {
				c.TurnID, c.ParentToolCallID, c.SubagentType, c.Description = new("turn"), new("outer"), new("coder"), new("d")
				c.AgentID, c.ChildSessionID, c.Model, c.IsAsync = new("a"), new("c"), new("m"), true
				c.AgentStatus, c.ToolStatus, c.SettledAt = new("running"), new("completed"), new(at(6))
				c.TotalTokens, c.ToolUseCount, c.DurationMS = new(int64(10)), new(int64(0)), new(int64(30))
			}),
			w.backfilled(bare, "bare", at(7), func(c *subagent.Context) { c.ToolStatus = new("Completed") }),
		}
		if diff := cmp.Diff(want, w.contexts()); diff != "" {
			t.Fatalf("contexts (-want +got):\n%s", diff)
		}
		keys := w.keys()
		if through := keys[subagent.KeyBackfillThrough]; through != "2026-01-02T03:04:05.000008000Z" {
			t.Errorf("through %q", through)
		}
		nine := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$`)
		if len(keys) != 3 || !nine.MatchString(keys[subagent.KeyCaptureSince]) || !nine.MatchString(keys[subagent.KeyExecutionSince]) {
			t.Errorf("keys %v", keys)
		}
		w.tell(told{created: at(9), metadata: call("later", "")})
		s.Activate(t.Context())
		if diff := cmp.Diff(want, w.contexts()); diff != "" || !maps.Equal(keys, w.keys()) {
			t.Errorf("a replay changed %v, or contexts (-want +got):\n%s", w.keys(), diff)
		}
	})
}

// SC-31: what else may stand in a document makes no row and fails nothing, and of the
// values of a row only what is of the right form counts; the same on both databases.
func TestBackfillOfAnyDocument(t *testing.T) {
	values := []struct {
		payload string
		want    func(*subagent.Context)
	}{
		{`"total_tokens":1e3,"tool_use_count":1e3,"duration_ms":1e3`, metrics(1000, 1000, 1000)},
		{`"total_tokens":3.7,"tool_use_count":3.7,"duration_ms":3.7`, nil},
		{`"total_tokens":"12","tool_use_count":"12abc","duration_ms":""`, nil},
		{`"total_tokens":9223372036854775807,"tool_use_count":9223372036854775807,"duration_ms":9223372036854775807`, metrics(1<<63-1, 1<<63-1, 1<<63-1)},
		{`"total_tokens":9223372036854775808,"tool_use_count":1e300,"duration_ms":123456789012345678901234567890`, nil},
		{`"total_tokens":1e400,"tool_use_count":-1e400,"duration_ms":9.3e18`, nil},
		{`"total_tokens":-5,"tool_use_count":-5,"duration_ms":-1e300`, nil},
		{`"total_tokens":-9223372036854775809,"tool_use_count":-9223372036854775808,"duration_ms":-0.5`, nil},
		{`"total_tokens":true,"tool_use_count":{},"duration_ms":[1]`, nil},
		{`"total_tokens":null,"tool_use_count":false,"duration_ms":{"a":1}`, nil},
		{`"total_tokens":0,"tool_use_count":0,"duration_ms":0`, func(c *subagent.Context) { c.ToolUseCount = new(int64(0)) }},
		{`"total_tokens":0.0,"tool_use_count":-0,"duration_ms":0e5`, func(c *subagent.Context) { c.ToolUseCount = new(int64(0)) }},
		{`"total_tokens":12.0,"tool_use_count":0.5e1,"duration_ms":1E+2`, metrics(12, 5, 100)},
		{`"is_async":true`, func(c *subagent.Context) { c.IsAsync = true }},
		{`"is_async":1`, func(c *subagent.Context) { c.IsAsync = true }},
		{`"is_async":"true","model":7,"status":{},"agent_id":[],"description":null,"subagent_type":true`, nil},
		{`"is_async":2`, nil},
		{`"is_async":{"a":1},"child_session_id":"x"`, func(c *subagent.Context) { c.ChildSessionID = new("x") }},
	}
	none := []string{
		`null`, `[]`, `{}`, `5`, `"text"`, `true`, `[{"tool_call_id":"c"}]`, `{"tool_call_id":"c"}`,
		`{"tool_call_id":"c","normalized":null}`, `{"tool_call_id":"c","normalized":"subagent_task"}`,
		`{"tool_call_id":"c","normalized":["kind","subagent_task"]}`, `{"tool_call_id":"c","normalized":7}`,
		`{"tool_call_id":"c","normalized":{"kind":["subagent_task"],"subagent_task":{}}}`,
		`{"tool_call_id":"c","normalized":{"kind":"other","subagent_task":{}}}`,
		`{"tool_call_id":"c","normalized":{"kind":"subagent_task"}}`, // a message only (SC-1)
		`{"tool_call_id":"c","normalized":{"kind":"subagent_task","subagent_task":null}}`,
		`{"tool_call_id":"c","normalized":{"kind":"subagent_task","subagent_task":[]}}`,
		`{"normalized":{"kind":"subagent_task","subagent_task":{}}}`,
		`{"tool_call_id":"","normalized":{"kind":"subagent_task","subagent_task":{}}}`,
		`{"tool_call_id":7,"normalized":{"kind":"subagent_task","subagent_task":{}}}`,
		`{"tool_call_id":null,"normalized":{"kind":"subagent_task","subagent_task":{}}}`,
	}
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		w := newContextScene(t, open(t))
		for _, metadata := range none {
			w.tell(told{created: at(1), metadata: metadata})
		}
		w.tell(told{created: at(1), task: "", metadata: call("no task", "")})
		w.addSession("")
		w.exec(`UPDATE task_session_messages SET session_id = '' WHERE id = ?`, w.tell(told{created: at(1), metadata: call("no session", "")}))
		if w.store.Name() == "sqlite" { // whose schema cannot but check
			w.exec("PRAGMA ignore_check_constraints = ON")
			for _, metadata := range []string{"", "no JSON", `{"tool_call_id":"c","normalized":{"kind":"subagent_task","subagent_task":{}`} {
				w.tell(told{created: at(1), metadata: metadata})
			}
			w.exec("PRAGMA ignore_check_constraints = OFF")
		}
		var want []subagent.Context
		escaped := `{"tool_call_id":"escaped","normalized":{"kind":"\u0073ubagent_task","subag\u0065nt_task":{}}}`
		want = append(want, w.backfilled(w.tell(told{created: at(1), metadata: escaped}), "escaped", at(1), nil))
		for i, v := range values {
			id := strings.Repeat("v", i+1)
			want = append(want, w.backfilled(w.tell(told{created: at(2 + i), metadata: call(id, v.payload)}), id, at(2+i), v.want))
		}
		w.store.Activate(t.Context())
		if diff := cmp.Diff(want, w.contexts()); diff != "" {
			t.Errorf("contexts (-want +got):\n%s", diff)
		}
		w.dropKey(subagent.KeyCaptureSince)
		w.setKey(subagent.KeyCaptureSince, subagent.FormatKey(sceneStart))
		if h := w.health(); h.Found == nil || h.Found.Shortfall != 0 || h.Found.Excess != 0 {
			t.Errorf("health %+v", h.Found)
		}
	})
}

func metrics(tokens, uses, ms int64) func(*subagent.Context) {
	return func(c *subagent.Context) { c.TotalTokens, c.ToolUseCount, c.DurationMS = &tokens, &uses, &ms }
}

// SC-32: a live row wins over the backfill on its key; beside one of a real execution
// there is the backfilled one, told apart by its source.
func TestBackfillBesideLiveRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		w := newContextScene(t, open(t))
		w.capture(subagent.Report{ToolCallID: "unknown", ObservedAt: at(1)})
		w.capture(subagent.Report{ToolCallID: "known", ExecutionID: "run 1", ObservedAt: at(2)})
		w.tell(told{created: at(3), metadata: call("unknown", `"model":"m"`)})
		w.tell(told{created: at(4), metadata: call("known", `"model":"m"`)})
		w.store.Activate(t.Context())
		var got []string
		for _, c := range w.contexts() {
			got = append(got, c.ToolCallID+" "+c.AgentExecutionID+" "+string(c.Source))
		}
		if want := []string{"unknown unknown live", "known run 1 live", "known unknown backfill"}; !slices.Equal(got, want) {
			t.Errorf("contexts %q, want %q", got, want)
		}
	})
}

// SC-33: the newest time is that of what the backfill looks at, not of what it inserted;
// where there is nothing to look at it is empty.
func TestBackfillThrough(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		for name, c := range map[string]struct {
			fill func(w *contextScene)
			want string
		}{
			"nothing":   {func(*contextScene) {}, ""},
			"not of it": {func(w *contextScene) { w.tell(told{created: at(1), metadata: `{}`}) }, ""},
			"live before": {func(w *contextScene) {
				w.capture(subagent.Report{ToolCallID: "c", ObservedAt: at(1)})
				w.tell(told{created: at(2), metadata: call("c", "")})
				w.tell(told{created: at(3), metadata: `{"tool_call_id":"c"}`})
			}, "2026-01-02T03:04:05.000002000Z"},
		} {
			t.Run(name, func(t *testing.T) {
				w := newContextScene(t, open(t))
				c.fill(w)
				w.store.Activate(t.Context())
				if got, ok := w.keys()[subagent.KeyBackfillThrough]; !ok || got != c.want {
					t.Errorf("through %q, want %q", got, c.want)
				}
				h := w.health()
				if h.NothingBackfilled != (c.want == "") || (h.BackfillThrough == nil) != (c.want == "") {
					t.Errorf("health %+v", h)
				}
			})
		}
	})
}
