package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/subagent"
)

// population is the shape of real traffic: 253 invocations in 127 turns.
type population struct {
	turns  []string
	frames []subagent.Report
}

// fanOut is how many turns spawned how many invocations.
var fanOut = map[int]int{1: 65, 2: 12, 3: 42, 4: 5, 5: 2, 8: 1}

// newPopulation deals the kinds of invocation out to the turns.
func newPopulation() (p population) {
	for _, size := range []int{8, 5, 4, 3, 2, 1} {
		for range fanOut[size] {
			turn := domain.NewID()
			p.turns = append(p.turns, turn)
			for range size {
				p.frames = append(p.frames, subagent.Report{
					TurnID: turn, ExecutionID: "run", ToolCallID: fmt.Sprintf("call %03d", len(p.frames)),
					ObservedAt: start.Add(time.Duration(len(p.frames)) * time.Second),
				})
			}
		}
	}
	for i := range p.frames {
		f := &p.frames[i]
		switch n := i * 7 % len(p.frames); { // 7 and 253 have no common divisor: each n comes once
		case n < 190:
			f.ToolStatus = "completed"
			f.Payload = subagent.Payload{Status: "async_launched", AgentID: "agent", Model: "model", IsAsync: true}
		case n < 190+57:
			f.ToolStatus = "completed"
			f.Payload = subagent.Payload{
				Status: "completed", AgentID: "agent", Model: "model",
				TotalTokens: new(int64(1000)), ToolUseCount: new(int64(10)), DurationMS: new(int64(100)),
			}
		case n < 190+57+5:
			f.ToolStatus = "in_progress"
			f.Payload = subagent.Payload{Status: "started", ChildSessionID: domain.NewID()}
		}
	}
	p.frames[3].ParentToolCallID = p.frames[0].ToolCallID
	return p
}

func contextPopulation(t *testing.T, w *readsWorld) {
	p := newPopulation()
	w.record(p.frames...)
	got := map[string]int{}
	for _, c := range w.list(t, w.all(), 50) {
		for fact, holds := range map[string]bool{
			"invocations": true, "nested": c.ParentToolCallID != nil, "async": c.IsAsync, "settled": c.SettledAt != nil,
			"no status":               c.AgentStatus == nil,
			"agent id and model":      c.AgentID != nil && c.Model != nil,
			"usage":                   c.TotalTokens != nil && c.ToolUseCount != nil && c.DurationMS != nil,
			"some usage":              c.TotalTokens != nil || c.ToolUseCount != nil || c.DurationMS != nil,
			"child session id":        c.ChildSessionID != nil,
			"child session id, ended": c.ChildSessionID != nil && c.SettledAt != nil,
		} {
			if holds {
				got[fact]++
			}
		}
		if c.AgentStatus != nil {
			got[*c.AgentStatus]++
		}
	}
	want := map[string]int{
		"invocations": 253, "async_launched": 190, "completed": 57, "started": 5, "no status": 1, "nested": 1,
		"async": 190, "settled": 247, "agent id and model": 247, "usage": 57, "some usage": 57, "child session id": 5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	sum := w.summary(t, w.all())
	if sum.Invocations != 253 || sum.Settled != 247 || sum.InFlight() != 6 {
		t.Errorf("summary %+v", sum)
	}
	wantSum(t, "total_tokens", sum.TotalTokens, "57000", 57)
	wantSum(t, "tool_use_count", sum.ToolUses, "570", 57)
	wantSum(t, "duration_ms", sum.DurationMS, "5700", 57)
	turns := map[int]int{}
	for _, turn := range p.turns {
		f := subagent.ContextFilter{SessionID: w.main.ID, TurnID: &turn}
		n := w.summary(t, f).Invocations
		if listed := len(w.list(t, f, 10)); int64(listed) != n {
			t.Errorf("a turn of %d lists %d", n, listed)
		}
		turns[int(n)]++
	}
	if diff := cmp.Diff(fanOut, turns); diff != "" {
		t.Errorf("invocations of turns (-want +got):\n%s", diff)
	}
}
