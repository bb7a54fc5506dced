package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// Steps that may come in any order, but that a run starts before it ends.
const (
	stepMessage = "message" // carries the call
	stepRound   = "round"   // a second one, with a message that carries the same id
	stepFrame   = "frame"   // makes its message one that carries the call
	stepStart   = "start"   // of a run that names no message, and works
	stepGiven   = "given"   // a run that names the newest message that carries the call
	stepEnd     = "end"     // of the first run; its child works on
	stepLater   = "later"   // a message that carries the call, when all else is over
)

// orders calls f with every order of the steps.
func orders(f func(steps []string)) {
	all := []string{stepMessage, stepRound, stepFrame, stepStart, stepGiven, stepEnd}
	var extend func(so []string)
	extend = func(so []string) {
		if len(so) == len(all) {
			f(append(so, stepLater))
			return
		}
		for _, step := range all {
			if !slices.Contains(so, step) && (step != stepEnd || slices.Contains(so, stepStart)) {
				extend(append(slices.Clone(so), step))
			}
		}
	}
	extend(nil)
}

// orderedMessage is a message as the rules see it.
type orderedMessage struct {
	history.Appended

	round   int
	carries bool
	runs    []string // paths of the runs that are bound to it
}

// ordered does one order of the steps to a session, under a call id of their own, and to
// a plain list.
type ordered struct {
	*historyWorld
	call           string
	started, given session.Session // children
	messages       []*orderedMessage
	told           *orderedMessage // of the frame, where it is there before it carries the call
	round          int
	run            subagent.Execution // of started
	path           string             // what it changed
	waits          bool               // whether it is bound to no message
	ended          bool
}

// HI-6: whatever order a message, a frame, a second round with the same call id and two
// runs come in, each change is shown once, and on the message that the rules name. In
// every other order the message of the frame is one that was there before.
func bindsInEveryOrder(t *testing.T, w *historyWorld) {
	started, given := w.child(w.main), w.child(w.main) // each order is a follow-up
	count := 0
	orders(func(steps []string) {
		count++
		o := &ordered{historyWorld: w, call: fmt.Sprint("call_", count), started: started, given: given}
		o.said(user())
		if count%2 == 0 {
			o.frame(t, "read")
		}
		for _, step := range steps {
			if step == stepLater {
				o.check(t, steps)
			}
			o.do(t, step)
		}
		o.check(t, steps)
	})
	if want := 360; count != want { // 6! / 2
		t.Errorf("%d orders, want %d", count, want)
	}
}

// said appends messages and returns the last.
func (o *ordered) said(batch ...history.NewMessage) *orderedMessage {
	o.t.Helper()
	for _, r := range o.say(o.t, o.main, batch...).Results {
		o.messages = append(o.messages, &orderedMessage{Appended: r, round: o.round})
	}
	return o.messages[len(o.messages)-1]
}

func (o *ordered) do(t *testing.T, step string) {
	t.Helper()
	switch step {
	case stepMessage, stepLater:
		o.carry(o.said(delegates(o.call)))
	case stepRound:
		o.round++
		o.carry(o.said(user(), delegates(o.call)))
	case stepFrame:
		o.frame(t, subagent.TaskKind)
		o.carry(o.told)
	case stepStart:
		o.run, o.path, o.waits = o.start(t, o.started, o.call), o.call+" started", true
		o.say(t, o.started, works(o.path))
		for _, m := range slices.Backward(o.messages) {
			if m.round == o.round && m.carries && len(m.runs) == 0 {
				o.carry(m)
				break
			}
		}
	case stepGiven:
		o.give(t)
	case stepEnd:
		o.end(t, o.run)
		o.ended = true
		o.say(t, o.started, works(o.call+" too late"))
	}
}

// frame tells a frame of the call.
func (o *ordered) frame(t *testing.T, kind string) {
	t.Helper()
	told := json.RawMessage(`{"frame":"tool_call","tool_call_id":"` + o.call + `","normalized":{"kind":"` + kind + `"}}`)
	results, err := o.history.AppendFrames(t.Context(), o.taskID, o.main.ID, []json.RawMessage{told})
	if err != nil {
		t.Fatal(err)
	}
	if o.told == nil {
		o.told = &orderedMessage{Appended: history.Appended{ID: results[0].MessageID, Seq: results[0].Seq}, round: o.round}
		o.messages = append(o.messages, o.told)
	}
}

// give runs a child for the newest message that carries the call, or else the newest.
func (o *ordered) give(t *testing.T) {
	t.Helper()
	to := o.messages[len(o.messages)-1]
	for _, m := range slices.Backward(o.messages) {
		if m.carries {
			to = m
			break
		}
	}
	asked := o.startOf(o.given, o.call)
	asked.ParentMessageID = &to.ID
	e, _, err := o.runs.Start(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	path := o.call + " given"
	o.say(t, o.given, works(path))
	o.end(t, e)
	to.runs = append(to.runs, path)
}

// carry has m carry the call: the run that waits is bound, unless m has one.
func (o *ordered) carry(m *orderedMessage) {
	m.carries = true
	if o.waits && len(m.runs) == 0 {
		m.runs, o.waits = append(m.runs, o.path), false
	}
}

func (o *ordered) check(t *testing.T, steps []string) {
	t.Helper()
	want := map[int64][]string{}
	for _, m := range o.messages {
		for _, path := range m.runs {
			if path != o.path || o.ended {
				want[m.Seq] = append(want[m.Seq], path)
			}
		}
	}
	failed := t.Failed()
	page := o.read(t, o.main, history.PageQuery{Limit: new(200), After: new(o.messages[0].Seq - 1)})
	if wantPaths(t, page, want); t.Failed() && !failed {
		t.Fatalf("the order is %s", strings.Join(steps, ", "))
	}
}
