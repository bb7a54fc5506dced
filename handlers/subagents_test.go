package handlers_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain"
	"gatehouse/domain/access"
)

// invocation is a frame that tells of one, with members of its payload.
func invocation(callID string, payload object) object {
	return object{
		"frame": "tool_call", "tool_call_id": callID, "execution_id": "run",
		"normalized": object{"kind": "subagent_task", "subagent_task": payload},
	}
}

// calls are the ids of the calls of a page, in order.
func calls(t *testing.T, a *answer) []string {
	t.Helper()
	ids := []string{}
	for _, item := range a.json(t)["items"].([]any) {
		ids = append(ids, item.(object)["tool_call_id"].(string))
	}
	return ids
}

// SC-44 as a front end sees it: what frames told, in pages, of a session and a turn.
func TestSubagentContexts(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		path := s.session + "/subagents"
		s.call("GET", path).as(access.ScopeUser).do(t).want(t, 200, `{"items":[],"next_cursor":null}`)
		none := `{"reported":0,"sum":null}`
		s.call("GET", path+"/summary").as(access.ScopeUser).do(t).want(t, 200,
			`"duration_ms":`+none, `"in_flight":0`, `"invocations":0`, `"settled":0`, `"tool_use_count":`+none, `"total_tokens":`+none)

		turn := s.call("POST", s.session+"/turns", "{}").do(t).want(t, 201).id(t)
		whole := invocation("a", object{
			"description": "d", "subagent_type": "coder", "status": "completed", "agent_id": "ag", "model": "m", "child_session_id": "c",
			"is_async": true, "total_tokens": int64(1<<63 - 1), "tool_use_count": 0, "duration_ms": 30,
		})
		whole["status"], whole["turn_id"], whole["parent_tool_call_id"], whole["observed_at"] = "completed", turn, "p", "2031-03-04T05:06:07Z"
		bare := invocation("b", object{})
		bare["execution_id"], bare["observed_at"] = nil, "2031-03-04T05:06:08Z"
		great := invocation("c", object{"total_tokens": int64(1<<63 - 1)})
		great["observed_at"] = "2031-03-04T05:06:09Z"
		s.tell(s.main, whole, bare, great).do(t).want(t, 200)

		page := s.call("GET", path+"?limit=2").as(access.ScopeUser).do(t).want(t, 200)
		got := page.at(t, "items", 0).(object)
		for _, name := range []string{"id", "updated_at", "task_id"} {
			if text, _ := got[name].(string); text == "" {
				t.Errorf("no %s", name)
			}
			delete(got, name)
		}
		want := object{
			"task_session_id": s.main, "turn_id": turn, "agent_execution_id": "run", "tool_call_id": "a", "parent_tool_call_id": "p",
			"subagent_type": "coder", "description": "d", "agent_id": "ag", "child_session_id": "c", "model": "m",
			"agent_status": "completed", "tool_status": "completed", "is_async": true, "total_tokens": json.Number("9223372036854775807"),
			"tool_use_count": json.Number("0"), "duration_ms": json.Number("30"), "source": "live",
			"observed_at": "2031-03-04T05:06:07.000000Z", "settled_at": "2031-03-04T05:06:07.000000Z",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the first row (-want +got):\n%s", diff)
		}
		page.want(t, 200, `"agent_execution_id":"unknown"`, `"tool_use_count":null`, `"settled_at":null`)
		rest := s.call("GET", path+"?limit=2&cursor="+page.text(t, "next_cursor")).do(t).want(t, 200, `"next_cursor":null`)
		if ids := slices.Concat(calls(t, page), calls(t, rest)); !slices.Equal(ids, []string{"a", "b", "c"}) {
			t.Errorf("pages list %q", ids)
		}
		s.call("GET", path+"/summary").do(t).want(t, 200, `"invocations":3`, `"settled":1`, `"in_flight":2`,
			`"total_tokens":{"reported":2,"sum":18446744073709551614}`, `"tool_use_count":{"reported":1,"sum":0}`, `"duration_ms":{"reported":1,"sum":30}`)

		ofTurn := "?turn_id=" + turn
		if ids := calls(t, s.call("GET", path+ofTurn).do(t).want(t, 200)); !slices.Equal(ids, []string{"a"}) {
			t.Errorf("the turn lists %q", ids)
		}
		s.call("GET", path+"/summary"+ofTurn).do(t).want(t, 200, `"invocations":1`)
		s.call("PATCH", "/v1/turns/"+turn, `{"state":"completed"}`).do(t).want(t, 200)
		s.call("DELETE", "/v1/turns/"+turn).do(t).want(t, 204)
		s.call("GET", path+"/summary"+ofTurn).do(t).want(t, 200, `"invocations":1`) // SC-13
		s.call("GET", path+"?turn_id="+domain.NewID()).do(t).want(t, 200, `{"items":[],"next_cursor":null}`)

		s.call("GET", path+"?turn_id=x").do(t).wantField(t, "/query/turn_id", "format")
		s.call("GET", path+"?cursor=x").do(t).wantField(t, "/query/cursor", "format")
		s.call("GET", path+ofTurn+"&cursor="+page.text(t, "next_cursor")).do(t).wantField(t, "/query/cursor", "format")
		s.call("GET", path+"?limit=201").do(t).wantField(t, "/query/limit", "range")
		s.call("GET", path+"/summary?limit=1").do(t).wantField(t, "/query/limit", "unknown")
		s.call("GET", "/v1/sessions/"+domain.NewID()+"/subagents").do(t).wantCode(t, 404, "session_not_found")
	})
}

// SC-41 to SC-43 as an operator sees them: before the activation, while all is well and
// when the writer has stopped. The gauges show the last answer, and none before one.
func TestSubagentContextHealth(t *testing.T) {
	const path = "/v1/admin/subagent-contexts/health"
	eachTranscript(t, func(t *testing.T, s *transcript) {
		s.call("GET", path).as(access.ScopeRunner).do(t).wantCode(t, 403, "forbidden")
		s.tell(s.main, invocation("before", object{})).do(t).want(t, 200)
		absent := s.call("GET", path).do(t).want(t, 200, `"state":"not_activated"`).json(t)
		delete(absent, "state")
		for name, value := range absent {
			if value != nil {
				t.Errorf("%s is %v", name, value)
			}
		}
		if got := gauges(t, s.metrics); len(got) > 0 {
			t.Errorf("gauges %v", got)
		}

		s.store.Activate(t.Context())
		well := s.call("GET", path).do(t).want(t, 200, `"state":"active"`, `"shortfall":0`, `"excess":0`, `"collisions":0`, `"last_observed_at":null`)
		through, err := time.Parse(time.RFC3339, well.text(t, "backfill_through"))
		if since := well.text(t, "capture_since"); err != nil || well.text(t, "execution_since") == "" || since <= well.text(t, "backfill_through") {
			t.Errorf("%v, through %v, since %s", err, through, since)
		}
		s.tell(s.main, invocation("kept", object{})).do(t).want(t, 200)
		s.stopped.Store(true)
		s.tell(s.main, invocation("missed", object{})).do(t).want(t, 200, `"created"`)
		if got := gauges(t, s.metrics)["gatehouse_subagent_context_shortfall"]; got != 0 {
			t.Errorf("nobody asked, and the shortfall is %v", got)
		}
		stopped := s.call("GET", path).do(t).want(t, 200, `"shortfall":1`, `"excess":0`)
		if stopped.text(t, "last_observed_at") < well.text(t, "capture_since") {
			t.Errorf("%s", stopped.Body)
		}
		want := map[string]float64{"gatehouse_subagent_context_shortfall": 1, "gatehouse_subagent_context_excess": 0}
		if diff := cmp.Diff(want, gauges(t, s.metrics)); diff != "" {
			t.Errorf("gauges (-want +got):\n%s", diff)
		}
		s.stopped.Store(false)
		s.tell(s.main, invocation("missed", object{"model": "m"})).do(t).want(t, 200)
		s.call("GET", path).do(t).want(t, 200, `"shortfall":0`)
	})
}

// gauges are those of the health of contexts, by name.
func gauges(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		switch f.GetName() {
		case "gatehouse_subagent_context_shortfall", "gatehouse_subagent_context_excess":
			got[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return got
}
