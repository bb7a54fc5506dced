package db_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/subagent"
)

// since begins the capture of a scene at a time.
func (w *contextScene) since(value string) {
	w.t.Helper()
	w.setKey(subagent.KeyCaptureSince, value)
}

// found compares; the test fails where there is nothing to compare from.
func (w *contextScene) found() subagent.Findings {
	w.t.Helper()
	h := w.health()
	if h.Found == nil {
		w.t.Fatalf("nothing was compared: %+v", h)
	}
	return *h.Found
}

// SC-41: what one side lacks never makes up for what the other lacks. Behind a standing
// excess, the first invocation that a stopped writer misses shows.
func TestStandingExcessAndStoppedWriter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		w := newContextScene(t, open(t))
		w.since(subagent.FormatKey(at(0)))
		for _, id := range []string{"a", "b", "c"} {
			w.capture(subagent.Report{ToolCallID: id, ExecutionID: "run", ObservedAt: at(1)})
		}
		w.tell(told{created: at(2), metadata: call("kept", "")})
		w.capture(subagent.Report{ToolCallID: "kept", ExecutionID: "run", ObservedAt: at(2)})
		want := subagent.Findings{Excess: 3, LastObservedAt: new(at(2))}
		if diff := cmp.Diff(want, w.found()); diff != "" {
			t.Errorf("while it writes (-want +got):\n%s", diff)
		}
		w.tell(told{created: at(3), metadata: call("missed", "")})
		want.Shortfall = 1
		if diff := cmp.Diff(want, w.found()); diff != "" {
			t.Errorf("when it has stopped (-want +got):\n%s", diff)
		}
		w.tell(told{created: at(4), metadata: call("missed", `"model":"a later frame"`)})
		w.tell(told{created: at(5), metadata: call("missed too", "")})
		want.Shortfall = 2
		if diff := cmp.Diff(want, w.found()); diff != "" {
			t.Errorf("later (-want +got):\n%s", diff)
		}
	})
}

// SC-41: which messages are owed a context, and which account for one.
func TestShortfallAndExcess(t *testing.T) {
	const bare = `{"tool_call_id":"c","normalized":{"kind":"subagent_task"}}`
	for name, c := range map[string]struct {
		fill func(w *contextScene)
		want subagent.Findings
	}{
		"nothing": {func(*contextScene) {}, subagent.Findings{}},
		"no identity": {func(w *contextScene) {
			w.tell(told{created: at(5), metadata: `{"normalized":{"kind":"subagent_task","subagent_task":{}}}`})
			w.tell(told{created: at(5), metadata: call("", "")})
			w.tell(told{created: at(5), task: "", metadata: call("c", "")})
		}, subagent.Findings{}},
		"no object": {func(w *contextScene) { w.tell(told{created: at(5), metadata: bare}) }, subagent.Findings{}},
		"no object accounts": {func(w *contextScene) {
			w.tell(told{created: at(5), metadata: bare})
			w.capture(subagent.Report{ToolCallID: "c", ObservedAt: at(5)})
		}, subagent.Findings{LastObservedAt: new(at(5))}},
		"an older context serves": {func(w *contextScene) {
			w.capture(subagent.Report{ToolCallID: "c", ObservedAt: at(1)})
			w.tell(told{created: at(5), metadata: call("c", "")})
		}, subagent.Findings{}},
		"an older message accounts": {func(w *contextScene) {
			w.tell(told{created: at(1), metadata: call("c", "")})
			w.capture(subagent.Report{ToolCallID: "c", ObservedAt: at(5)})
		}, subagent.Findings{LastObservedAt: new(at(5))}},
		"another session's": {func(w *contextScene) {
			w.addSession("other")
			w.tell(told{session: "other", created: at(5), metadata: call("c", "")})
			w.capture(subagent.Report{ToolCallID: "c", ObservedAt: at(6)})
		}, subagent.Findings{Shortfall: 1, Excess: 1, LastObservedAt: new(at(6))}},
		"two executions": {func(w *contextScene) {
			w.tell(told{created: at(5), metadata: call("c", "")})
			w.capture(subagent.Report{ToolCallID: "c", ExecutionID: "1", ObservedAt: at(5)})
			w.capture(subagent.Report{ToolCallID: "c", ExecutionID: "2", ObservedAt: at(6)})
			w.capture(subagent.Report{ToolCallID: "c", ExecutionID: "3", ObservedAt: at(1)})
		}, subagent.Findings{Collisions: 1, LastObservedAt: new(at(6))}},
		"imported": { // what a transcript tells is old, and issues calls of delegation tools
			func(w *contextScene) {
				w.capture(subagent.Report{ToolCallID: "old", ObservedAt: at(1)})
				m := w.tell(told{created: at(5), metadata: "{}"})
				w.exec(`INSERT INTO task_session_delegations (message_id, tool_call_id, ordinal, session_id, message_seq)
					VALUES (?, 'c', 0, ?, 1)`, m, w.session)
				w.capture(subagent.Report{ToolCallID: "c", ObservedAt: at(5)})
			}, subagent.Findings{LastObservedAt: new(at(5))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
				w := newContextScene(t, open(t))
				w.since(subagent.FormatKey(at(3)))
				c.fill(w)
				if diff := cmp.Diff(c.want, w.found()); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// SC-35: a key is an instant. What is one microsecond before it and what is at it are
// on different sides, whatever digits and zone the key is written with.
func TestKeysAreInstants(t *testing.T) {
	edge := time.Date(2026, 1, 2, 3, 4, 5, 100_000_000, time.UTC) // which ends in zeros
	for _, key := range []string{
		"2026-01-02T03:04:05.100000000Z", "2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100000Z",
		"2026-01-02T04:04:05.100000000+01:00", "2026-01-02T03:04:05.099999001Z",
	} {
		t.Run(key, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
				w := newContextScene(t, open(t))
				w.since(key)
				w.tell(told{created: edge.Add(-time.Microsecond), metadata: call("before", "")})
				w.capture(subagent.Report{ToolCallID: "x before", ObservedAt: edge.Add(-time.Microsecond)})
				if got := w.found(); got != (subagent.Findings{}) {
					t.Errorf("before: %+v", got)
				}
				w.tell(told{created: edge, metadata: call("at", "")})
				w.capture(subagent.Report{ToolCallID: "x at", ObservedAt: edge})
				if diff := cmp.Diff(subagent.Findings{Shortfall: 1, Excess: 1, LastObservedAt: &edge}, w.found()); diff != "" {
					t.Errorf("at (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// SC-42: without a time to compare from nothing is compared, and each of the four
// states has its name. What is no time is a failure, not an absence.
func TestActivationStates(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		for want, keys := range map[subagent.ActivationState][]string{
			subagent.ActivationNone:          nil,
			subagent.ActivationCaptureOnly:   {subagent.KeyCaptureSince},
			subagent.ActivationExecutionOnly: {subagent.KeyExecutionSince, subagent.KeyBackfillThrough},
			subagent.ActivationComplete:      subagent.ActivationKeys,
		} {
			t.Run(string(want), func(t *testing.T) {
				w := newContextScene(t, open(t))
				w.tell(told{created: at(1), metadata: call("c", "")})
				for _, key := range keys {
					w.setKey(key, subagent.FormatKey(at(1)))
				}
				h := w.health()
				if h.State() != want || (h.Found != nil) != (h.CaptureSince != nil) || !h.Alarms() {
					t.Errorf("%s, %+v, want %s", h.State(), h, want)
				}
			})
		}
		w := newContextScene(t, open(t))
		w.since("soon")
		if _, err := w.store.ContextReader().ContextHealth(t.Context()); err == nil {
			t.Error("a key that is no time was read")
		}
	})
}

// SC-41: each comparison is a single statement.
func TestHealthStatements(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		w := newContextScene(t, open(t))
		w.since(subagent.FormatKey(at(0)))
		var statements []string
		dbtest.Probe(t, w.store, func(when dbtest.When, sql string) error {
			if when == dbtest.Before && sql != db.CommitSQL {
				statements = append(statements, sql)
			}
			return nil
		})
		w.found()
		if len(statements) != 4 { // the keys, and three comparisons
			t.Errorf("%d statements: %q", len(statements), statements)
		}
	})
}
