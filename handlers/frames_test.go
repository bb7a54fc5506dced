package handlers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/storetest"
	"gatehouse/domain/subagent"
	"gatehouse/handlers"
)

type object = map[string]any

// tell sends frames to a session as a runner.
func (s *transcript) tell(session string, frames ...any) *call {
	return s.call("POST", "/v1/sessions/"+session+"/frames", object{"frames": frames}).as(access.ScopeRunner)
}

// API-2, HI-9, SC-1 as a runner sees them: good frames among bad ones, replays, and
// what a transcript shows of them.
func TestAppendFrames(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		sent := []any{
			object{
				"frame": "tool_call", "tool_call_id": "c", "execution_id": "e", "title": "Explore", "status": "in_progress",
				"observed_at": "2031-03-04T05:06:07Z", "content": "a\x00", "raw": object{"A": -1, "a": nil},
				"normalized": object{"kind": "subagent_task", "Kind": "other", "subagent_task": object{"description": "", "total_tokens": -5, "unknown": []any{}}},
			},
			nil, 5,
			object{"frame": "tool_call", "unknown": 1},
			object{"frame": "other"},
			object{"frame": "tool_call", "tool_call_id": strings.Repeat("x", 513)},
			object{"frame": "tool_call", "turn_id": domain.NewID()},
			object{"frame": "tool_call", "observed_at": "now"},
			object{"frame": "tool_call_update", "tool_call_id": "c", "execution_id": "e", "status": "completed", "parent_tool_call_id": nil},
			object{"frame": "tool_call_update", "tool_call_id": "unknown before", "content": "last"},
		}
		want := []string{
			"created", "rejected malformed", "rejected malformed", "rejected malformed", "rejected unknown_frame", "rejected too_long",
			"rejected turn_not_found", "rejected invalid_time", "updated", "created",
		}
		first := s.tell(s.main, sent...).do(t).want(t, 200)
		if diff := cmp.Diff(want, outcomesOf(t, first)); diff != "" {
			t.Errorf("outcomes:\n%s", diff)
		}
		for i, seq := range map[int]int64{0: 1, 8: 1, 9: 2} {
			if got := first.number(t, "results", i, "seq"); got != seq || first.number(t, "results", i, "index") != int64(i) {
				t.Errorf("frame %d has seq %d", i, got)
			}
		}
		page := s.call("GET", s.session+"/messages").as(access.ScopeUser).do(t).want(t, 200,
			`"role":"tool"`, `"type":"tool_call"`, `"tool_call_id":"c"`, `"content":"a`+"\ufffd"+`"`, `"sanitized":true`, `"created_at":"2031-03-04T05:06:07`, `"last_seq":2`)
		if page.text(t, "messages", 0, "metadata", "status") != "completed" || page.text(t, "messages", 0, "metadata", "normalized", "Kind") != "other" {
			t.Errorf("metadata is %v", page.at(t, "messages", 0, "metadata"))
		}

		want[0], want[8], want[9] = "unchanged", "unchanged", "unchanged"
		again := s.tell(s.main, sent...).do(t).want(t, 200)
		if diff := cmp.Diff(want, outcomesOf(t, again)); diff != "" || again.text(t, "results", 0, "message_id") != first.text(t, "results", 0, "message_id") {
			t.Errorf("told again:\n%s", diff)
		}
		if got := s.call("GET", s.session+"/messages").do(t); got.Body.String() != page.Body.String() {
			t.Errorf("a replay changed %s", got.Body)
		}
		counted := map[subagent.RecordOutcome]int{
			subagent.RecordAttempted: 2, subagent.RecordPersisted: 2, subagent.RecordAnomalousValue: 2,
			subagent.RecordFailed: 0, subagent.RecordSkippedNoIdentity: 0, subagent.RecordUnknownExecution: 0,
		}
		if diff := cmp.Diff(counted, contextFrames(t, s.metrics)); diff != "" {
			t.Errorf("counters:\n%s", diff)
		}
	})
}

// outcomesOf are the outcomes of an answer, with their reasons.
func outcomesOf(t *testing.T, a *answer) []string {
	t.Helper()
	var outcomes []string
	for _, r := range a.json(t)["results"].([]any) {
		outcome, _ := r.(object)["outcome"].(string)
		reason, _ := r.(object)["reason"].(string)
		outcomes = append(outcomes, strings.TrimSpace(outcome+" "+reason))
	}
	return outcomes
}

// API-2: the body as a whole is judged as everywhere.
func TestAppendFramesRefusals(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		frame := object{"frame": "tool_call", "tool_call_id": "c"}
		s.tell(s.main, frame).as(access.ScopeUser).do(t).wantCode(t, 403, "forbidden")
		s.tell(s.main, frame).with(s.foreign[access.ScopeRunner]).do(t).wantCode(t, 404, "session_not_found")
		s.tell(domain.NewID(), frame).do(t).wantCode(t, 404, "session_not_found")
		s.call("POST", s.session+"/frames", `{"frames":[]}`).do(t).wantCode(t, 422, "validation_failed")
		s.tell(s.main, make([]any, 501)...).do(t).wantField(t, "/body/frames", "too_many")
		s.tell(s.main, make([]any, 500)...).do(t).want(t, 200, `"index":499`)
		s.call("POST", s.session+"/frames", `{"frames":[{}],"x":1}`).do(t).wantField(t, "/body/x", "unknown")
		s.call("POST", s.session+"/frames", `{"frames":{}}`).do(t).wantField(t, "/body/frames", "type")
		s.call("POST", s.session+"/frames", `{"frames":[{"frame":"tool_call","frame":"tool_call"}]}`).do(t).wantCode(t, 400, "malformed_request")
		s.call("POST", s.session+"/frames", `{"frames":[{"frame":"tool_call","raw":"`+"\xff"+`"}]}`).do(t).wantCode(t, 400, "malformed_request")

		big := object{"frame": "tool_call", "tool_call_id": "big", "raw": strings.Repeat("x", 4<<20-2)}
		over := object{"frame": "tool_call", "tool_call_id": "over", "raw": strings.Repeat("x", 4<<20-1)}
		s.tell(s.main, big, over, big).do(t).want(t, 200, `"outcome":"created"`, `"reason":"too_large"`, `"outcome":"unchanged"`)
		s.tell(s.main, object{"frame": "tool_call", "raw": strings.Repeat("x", 32<<20)}).do(t).wantCode(t, 413, "request_too_large")
	})
}

// The published cases, where their ids can be sent: session and task are those of the
// path, and a turn is one of the session.
func TestFrameCases(t *testing.T) {
	eachTranscript(t, func(t *testing.T, s *transcript) {
		task := "/v1/tasks/" + s.call("GET", s.session).do(t).want(t, 200).text(t, "task_id")
		for _, c := range storetest.ContextCases(t, "../testdata/cases/subagent-upsert.json") {
			t.Run(c.Name, func(t *testing.T) { s.runCase(t, s.stack.session(t, task), c) })
		}
	})
}

func (s *transcript) runCase(t *testing.T, session string, c storetest.ContextCase) {
	before, turns := contextFrames(t, s.metrics), map[string]string{}
	for _, f := range c.Frames {
		frame := object{
			"frame": "tool_call_update", "tool_call_id": f.ToolCallID, "execution_id": f.ExecutionID, "status": f.Status,
			"parent_tool_call_id": f.ParentToolCallID, "observed_at": f.ObservedAt,
			"normalized": object{"kind": "subagent_task", "subagent_task": f.Payload},
		}
		if f.Session == "" || f.Task == "" {
			frame["tool_call_id"] = "" // another identity that is missing
		}
		if f.TurnID != "" {
			id := s.call("POST", "/v1/sessions/"+session+"/turns", "{}").as(access.ScopeRunner).do(t).want(t, 201).id(t)
			frame["turn_id"], turns[id] = id, f.TurnID
		}
		s.tell(session, frame).do(t).want(t, 200, `"outcome":"`)
	}
	rows, err := s.store.ContextReader().Contexts(t.Context(), subagent.ContextFilter{SessionID: session}, nil, domain.MaxListItems)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if id := rows[i].TurnID; id != nil {
			rows[i].TurnID = new(turns[*id])
		}
	}
	if diff := cmp.Diff(c.Rows, storetest.CaseRows(rows)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	counted := contextFrames(t, s.metrics)
	for outcome := range counted {
		counted[outcome] -= before[outcome]
	}
	if diff := cmp.Diff(c.Counters, counted); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

// SC-40: the names and labels that dashboards rely on, all of them from the start.
func TestContextMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := handlers.NewContextMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	want := map[subagent.RecordOutcome]int{
		"attempted": 0, "persisted": 0, "skipped_no_identity": 0, "anomalous_value": 0, "failed": 0, "unknown_execution": 0,
	}
	if diff := cmp.Diff(want, contextFrames(t, registry)); diff != "" {
		t.Errorf("at the start:\n%s", diff)
	}
	m.Observed(subagent.RecordFailed, 50)
	if want["failed"] = 50; !cmp.Equal(want, contextFrames(t, registry)) {
		t.Errorf("counted %v", contextFrames(t, registry))
	}
	if _, err := handlers.NewContextMetrics(registry); err == nil {
		t.Error("registered twice")
	}
}

// contextFrames are the counters of the frames that told of subagents.
func contextFrames(t *testing.T, registry *prometheus.Registry) map[subagent.RecordOutcome]int {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := make(map[subagent.RecordOutcome]int)
	for _, f := range families {
		if f.GetName() != "gatehouse_subagent_context_frames_total" {
			continue
		}
		for _, series := range f.GetMetric() {
			counted[subagent.RecordOutcome(series.GetLabel()[0].GetValue())] = int(series.GetCounter().GetValue())
		}
	}
	return counted
}
