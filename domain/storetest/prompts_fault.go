package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
)

// Probe has f called on either side of every statement of s, until the test ends.
// The error it returns becomes the statement's.
type Probe func(tb testing.TB, s Store, f func(sql string) error)

// PromptFaults breaks an admission and every step of a delivery on either side of
// each of its statements, in two ways: the statement fails, or the caller leaves.
// It must be all or nothing, and a retry must settle it (QU-22, QU-26, AD-3).
func PromptFaults(t *testing.T, open Open, probe Probe) {
	f := &faults{world: newWorld(t, open)}
	probe(t, f.world.store, f.step)
	for name, op := range map[string]faultyOp{
		"admit":       {prepareAdmit, []error{nil}},
		"hook":        {prepareHook, []error{nil}},
		"run":         {prepareRun, []error{nil}},
		"stage":       {prepareStage, []error{nil}},
		"unstage":     {prepareUnstage, []error{nil, prompt.ErrAttachmentNotFound}},
		"reserve":     {prepareReserve, []error{nil}},
		"attempt":     {prepareAttempt, []error{nil, prompt.ErrAttempted}},
		"release":     {prepareRelease, []error{nil, prompt.ErrLeaseLost}},
		"acknowledge": {prepareAcknowledge, []error{nil}},
		"enqueue":     {prepareEnqueue, []error{nil}},
		"edit":        {prepareEdit, []error{nil, prompt.ErrQueueChanged}},
		"remove":      {prepareRemove, []error{nil, prompt.ErrEntryNotFound}},
		"reorder":     {prepareReorder, []error{nil}},

		"send now":                  {prepareSendNow, []error{nil, prompt.ErrSendNowConflict}},
		"attempt a combination":     {prepareAttemptCombination, []error{nil, prompt.ErrAttempted}},
		"release a combination":     {prepareReleaseCombination, []error{nil, prompt.ErrLeaseLost}},
		"acknowledge a combination": {prepareAcknowledgeCombination, []error{nil}},
		"requeue a combination":     {prepareRequeueCombination, []error{nil}},
		"reset a session":           {prepareReset, []error{nil, session.ErrReplaced}},
	} {
		t.Run(name, func(t *testing.T) { f.run(t, op) })
	}
}

// faultyOp is an operation on a fresh world, and what its retry may answer.
type faultyOp struct {
	prepare func(t *testing.T, w *promptWorld) func(ctx context.Context) error
	retry   []error
}

var errInjected = errors.New("injected")

// faults breaks the statement of an operation that is next in turn.
type faults struct {
	world  *world
	active bool
	seen   int    // calls of the probe since the operation began
	at     int    // the call to break, from 1; 0 for none
	leave  func() // what to do there, nil to fail
}

func (f *faults) step(string) error {
	if !f.active {
		return nil
	}
	f.seen++
	if f.seen != f.at {
		return nil
	}
	if f.leave != nil {
		f.leave()
		return nil
	}
	return errInjected
}

// during runs op with the fault at its call number at.
func (f *faults) during(at int, leave func(), op func() error) error {
	f.active, f.seen, f.at, f.leave = true, 0, at, leave
	defer func() { f.active = false }()
	return op()
}

func (f *faults) run(t *testing.T, op faultyOp) {
	w := newPromptWorld(t, f.world)
	do := op.prepare(t, w)
	before := w.state(t)
	if err := f.during(0, nil, func() error { return do(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	calls, whole := f.seen, w.state(t).since(before)
	if calls < 6 {
		t.Fatalf("saw only %d sides of statements", calls)
	}
	for at := 1; at <= calls; at++ {
		f.breakAt(t, op, at, false, whole)
		f.breakAt(t, op, at, true, whole)
	}
}

// breakAt runs the operation on a world of its own with one fault, and again
// without.
func (f *faults) breakAt(t *testing.T, op faultyOp, at int, leaves bool, whole promptDelta) {
	t.Helper()
	w := newPromptWorld(t, f.world)
	do := op.prepare(t, w)
	before := w.state(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var leave func()
	if leaves {
		leave = cancel
	}
	err := f.during(at, leave, func() error { return do(ctx) })
	left := w.state(t)
	got := left.since(before)
	if !leaves && !errors.Is(err, errInjected) && (err != nil || got != whole) { // a lease that cannot be given back fails nobody
		t.Errorf("at %d: error is %v", at, err)
	}
	if got != whole && (err == nil || got != promptDelta{}) {
		t.Errorf("at %d, leaves %v (%v): half of it is there: %+v", at, leaves, err, got)
	}
	if got == (promptDelta{}) {
		if diff := cmp.Diff(before, left, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("at %d, leaves %v: a trace is left:\n%s", at, leaves, diff)
		}
	}
	err = do(t.Context())
	settled := false
	for _, allowed := range op.retry {
		settled = settled || errors.Is(err, allowed)
	}
	if after := w.state(t).since(before); !settled || after != whole {
		t.Errorf("at %d, leaves %v: the retry answers %v and leaves %+v, want %+v", at, leaves, err, after, whole)
	}
}

// promptDelta is what an operation changed, in numbers.
type promptDelta struct {
	Changes, Revision, QueueRevision, Messages, Positions int64
	Comments, Deliveries, Turns, RunningTurns             int
	Files, Claimed                                        int
	Running                                               bool
	States                                                string // of all deliveries, when one has another
}

func (s promptState) since(before promptState) promptDelta {
	d := promptDelta{
		Changes:       s.Task.ChangeSeq - before.Task.ChangeSeq,
		Revision:      s.Comments.Revision - before.Comments.Revision,
		QueueRevision: s.Sessions[0].QueueRevision - before.Sessions[0].QueueRevision,
		Messages:      s.Sessions[0].LastMessageSeq - before.Sessions[0].LastMessageSeq,
		Positions:     s.Sessions[0].LastPosition - before.Sessions[0].LastPosition,
		Comments:      len(s.Comments.Comments) - len(before.Comments.Comments),
		Deliveries:    len(s.Deliveries) - len(before.Deliveries),
		Turns:         len(s.Turns) - len(before.Turns),
		RunningTurns:  s.runningTurns() - before.runningTurns(),
		Files:         len(s.Files) - len(before.Files),
		Claimed:       s.claimed() - before.claimed(),
		Running:       s.Sessions[0].State == session.StateRunning && before.Sessions[0].State != session.StateRunning,
	}
	if states := s.deliveryStates(); states != before.deliveryStates() {
		d.States = states
	}
	return d
}

// deliveryStates are the states of all deliveries, and which of them are linked.
func (s promptState) deliveryStates() string {
	var b strings.Builder
	for _, d := range s.Deliveries {
		fmt.Fprintf(&b, "%s %t %t %t %t\n", d.State, d.CombinedInto != nil, d.RequeuedAs != nil, d.TurnID != nil, d.MessageID != nil)
	}
	return b.String()
}

func (s promptState) runningTurns() (n int) {
	for _, turn := range s.Turns {
		if turn.State == session.TurnRunning {
			n++
		}
	}
	return n
}

func (s promptState) claimed() (n int) {
	for _, a := range s.Files {
		if a.DeliveryID != nil {
			n++
		}
	}
	return n
}
