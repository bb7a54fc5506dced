package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// historySession is a session as a plain list.
type historySession struct {
	session.Session

	messages []*historyMessage
	run      *historyExecution // that what it says now belongs to
}

// historyMessage knows the run it was said in: no ranges, no times.
type historyMessage struct {
	user    bool
	deleted bool
	calls   []string
	paths   []string
	run     *historyExecution
	bound   []*historyExecution // as they were bound
}

type historyExecution struct {
	id      string
	number  int // as they were started
	call    string
	parent  *historySession
	child   *historySession
	message *historyMessage
	running bool
}

// historyRun does the same to a task and to the model, and compares.
type historyRun struct {
	*historyWorld
	sessions   []*historySession // the first is the main one
	executions []*historyExecution
	frames     map[string]*historyMessage // by session, execution and call
	paths      int
}

// historyModel runs random delegations, nested, interleaved, rolled back and
// crashed, with few call ids, against the model (QU-23).
func historyModel(t *testing.T, w *historyWorld) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &historyRun{historyWorld: w, sessions: []*historySession{{Session: w.mainIn("/w")}}, frames: map[string]*historyMessage{}}
		for _, parent := range []int{0, 0, 1, 1, 3} {
			r.sessions = append(r.sessions, &historySession{Session: w.child(r.sessions[parent].Session)})
		}
		rt.Repeat(map[string]func(*rapid.T){
			"say":      r.say,
			"work":     r.work,
			"work 2":   r.work, // more often than the rest
			"delegate": r.delegate,
			"frame":    r.frame,
			"start":    r.start,
			"start 2":  r.start,
			"end":      func(rt *rapid.T) { r.finish(rt, false) },
			"crash":    func(rt *rapid.T) { r.finish(rt, true) },
			"roll":     r.rollBack,
		})
		r.check(rt)
	})
}

func (r *historyRun) drawSession(rt *rapid.T) *historySession {
	return rapid.SampledFrom(r.sessions).Draw(rt, "session")
}

func (r *historyRun) drawCall(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"call_0", "call_1"}).Draw(rt, "call")
}

func (r *historyRun) append(rt *rapid.T, to *historySession, m history.NewMessage) *historyMessage {
	r.historyWorld.say(rt, to.Session, m)
	said := &historyMessage{user: m.Role == session.RoleUser, run: to.run}
	to.messages = append(to.messages, said)
	return said
}

func (r *historyRun) say(rt *rapid.T) { r.append(rt, r.drawSession(rt), user()) }

func (r *historyRun) work(rt *rapid.T) {
	r.paths++
	path := strconv.Itoa(r.paths)
	m := r.append(rt, r.drawSession(rt), works(path))
	m.paths = []string{path}
}

// delegate also gives the executions that wait their message: the oldest first.
func (r *historyRun) delegate(rt *rapid.T) {
	of := r.drawSession(rt)
	calls := []string{r.drawCall(rt)}
	if rapid.Bool().Draw(rt, "two") {
		calls = append(calls, r.drawCall(rt))
	}
	m := r.append(rt, of, delegates(calls...))
	r.carry(of, m, calls)
}

// frame tells of a call, whose message it makes or completes (HI-6).
func (r *historyRun) frame(rt *rapid.T) {
	of, call := r.drawSession(rt), r.drawCall(rt)
	kind := rapid.SampledFrom([]string{"read", subagent.TaskKind}).Draw(rt, "kind")
	process := rapid.SampledFrom([]string{"e0", "e1"}).Draw(rt, "execution")
	told := fmt.Sprintf(`{"frame":"tool_call","tool_call_id":"%s","execution_id":"%s","normalized":{"kind":"%s"}}`, call, process, kind)
	if _, err := r.history.AppendFrames(r.t.Context(), r.taskID, of.ID, []json.RawMessage{json.RawMessage(told)}); err != nil {
		rt.Fatalf("append frame: %v", err)
	}
	key := of.ID + process + call
	m := r.frames[key]
	if m == nil {
		m = &historyMessage{run: of.run}
		of.messages, r.frames[key] = append(of.messages, m), m
	}
	if kind == subagent.TaskKind && !m.deleted && m.calls == nil {
		r.carry(of, m, []string{call})
	}
}

// carry has m issue calls. What waits for one is bound.
func (r *historyRun) carry(of *historySession, m *historyMessage, calls []string) {
	m.calls = calls
	for _, call := range calls {
		if m.catches(call) {
			continue
		}
		for _, e := range r.executions {
			if e.message == nil && e.parent == of && e.call == call {
				e.message, m.bound = m, append(m.bound, e)
				break
			}
		}
	}
}

// catches reports whether an execution of a call is bound to m.
func (m *historyMessage) catches(call string) bool {
	return slices.ContainsFunc(m.bound, func(e *historyExecution) bool { return e.call == call })
}

func (r *historyRun) start(rt *rapid.T) {
	child := rapid.SampledFrom(r.sessions[1:]).Draw(rt, "child")
	if child.run != nil && child.run.running {
		return
	}
	e := &historyExecution{number: len(r.executions), call: r.drawCall(rt), child: child, running: true}
	for _, s := range r.sessions {
		if s.ID == *child.ParentSessionID {
			e.parent = s
		}
	}
	asked := r.startOf(child.Session, e.call)
	e.message = r.drawMessage(rt, e.parent, &asked)
	if e.message == nil {
		e.message = e.parent.free(e.call)
	}
	if e.message != nil {
		e.message.bound = append(e.message.bound, e)
	}
	started, _, err := r.runs.Start(r.t.Context(), asked)
	if err != nil {
		rt.Fatalf("start execution: %v", err)
	}
	e.id = started.ID
	r.executions, child.run = append(r.executions, e), e
}

// drawMessage sometimes names the message of a run to start, whether it issues the call
// or not.
func (r *historyRun) drawMessage(rt *rapid.T, parent *historySession, asked *subagent.ExecutionStart) *historyMessage {
	at := rapid.IntRange(0, 4*len(parent.messages)).Draw(rt, "message")
	if at >= len(parent.messages) || parent.messages[at].deleted {
		return nil
	}
	page := r.read(rt, parent.Session, history.PageQuery{Limit: new(1), Before: new(int64(at + 2))})
	asked.ParentMessageID = &page.Messages[0].ID
	return parent.messages[at]
}

// free is the newest message of the current round that carries a call nothing is
// bound for.
func (s *historySession) free(call string) *historyMessage {
	for _, m := range slices.Backward(s.messages) {
		switch {
		case m.deleted:
		case m.user:
			return nil
		case slices.Contains(m.calls, call) && !m.catches(call):
			return m
		}
	}
	return nil
}

// finish ends a run, or leaves it terminal without an end, as a crash does: what the
// child says until its next run then still belongs to it (HI-3).
func (r *historyRun) finish(rt *rapid.T, crash bool) {
	var running []*historyExecution
	for _, e := range r.executions {
		if e.running {
			running = append(running, e)
		}
	}
	if len(running) == 0 {
		return
	}
	e := rapid.SampledFrom(running).Draw(rt, "execution")
	e.running = false
	if !crash {
		e.child.run = nil
		r.end(rt, subagent.Execution{ID: e.id})
		return
	}
	err := r.store.Executions().InTx(r.t.Context(), r.taskID, func(ctx context.Context, tx subagent.ExecutionTx) error {
		stored, err := tx.Execution(ctx, e.id)
		if err != nil {
			return err
		}
		stored.Status = subagent.ExecutionFailed
		return tx.EndExecution(ctx, stored)
	})
	if err != nil {
		rt.Fatalf("crash: %v", err)
	}
}

func (r *historyRun) rollBack(rt *rapid.T) {
	of := r.drawSession(rt)
	from := rapid.IntRange(max(1, len(of.messages)-3), len(of.messages)+1).Draw(rt, "from")
	if _, err := r.history.Rollback(r.t.Context(), r.taskID, of.ID, int64(from)); err != nil {
		rt.Fatalf("roll back: %v", err)
	}
	for _, m := range of.messages[from-1:] {
		m.deleted = true
	}
}

// shown is what a message shows: its own, then, call by call, what was said in the
// runs that are over.
func (m *historyMessage) shown() []string {
	shown := slices.Clone(m.paths)
	bound := slices.Clone(m.bound)
	slices.SortStableFunc(bound, func(a, b *historyExecution) int {
		return cmp.Or(cmp.Compare(m.ordinal(a.call), m.ordinal(b.call)), cmp.Compare(a.number, b.number))
	})
	for _, e := range bound {
		for _, said := range e.child.messages {
			if said.run == e && !e.running {
				shown = append(shown, said.shown()...)
			}
		}
	}
	return shown
}

// ordinal is the place of a call among those of m; one that it does not issue is last.
func (m *historyMessage) ordinal(call string) int {
	if at := slices.Index(m.calls, call); at >= 0 {
		return at
	}
	return len(m.calls)
}

func (r *historyRun) check(rt *rapid.T) {
	for _, s := range r.sessions {
		want := map[int64][]string{}
		all := []string{}
		for i, m := range s.messages {
			if shown := m.shown(); !m.deleted && len(shown) > 0 {
				want[int64(i+1)] = shown
				all = append(all, shown...)
			}
		}
		r.wantShown(rt, s.Session, want)
		list, err := r.history.FileChanges(r.t.Context(), s.ID, domain.PageRequest{Limit: domain.MaxListItems}, history.DiffsNone)
		if err != nil {
			rt.Fatalf("list file changes: %v", err)
		}
		got := []string{}
		for _, c := range list.Items {
			got = append(got, c.PathKey)
		}
		if diff := gocmp.Diff(all, got); diff != "" {
			rt.Errorf("list differs:\n%s", diff)
		}
	}
}
