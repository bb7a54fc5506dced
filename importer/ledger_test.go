package importer_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/importer/claudecode"
)

// ledger is a database of one transcript in the simplest form: a sink that keeps what it
// is told and, when it is told again, only takes over what has grown. conflicts are what
// it was told that is no growth.
type ledger struct {
	holds     holdings
	conflicts []string
}

type holdings struct {
	Task       claudecode.Task
	Sessions   map[string]claudecode.Session
	States     map[string]claudecode.State
	Turns      map[string]ledgerTurn
	Messages   map[string][]claudecode.Message // by session
	Executions map[string]ledgerRun
}

type ledgerTurn struct {
	Session    string
	State      claudecode.State
	Begun, End time.Time
}

// ledgerRun is a run of a child: of its messages those behind the first Start ones, up to
// the first End ones.
type ledgerRun struct {
	claudecode.ExecutionStart

	Start, End int
	Status     claudecode.State
	Metrics    claudecode.Metrics
	over, late bool
}

func newLedger() *ledger {
	return &ledger{holds: holdings{
		Sessions: map[string]claudecode.Session{}, States: map[string]claudecode.State{}, Turns: map[string]ledgerTurn{},
		Messages: map[string][]claudecode.Message{}, Executions: map[string]ledgerRun{},
	}}
}

func (l *ledger) conflict(format string, values ...any) {
	l.conflicts = append(l.conflicts, fmt.Sprintf(format, values...))
}

// Task implements claudecode.Sink.
func (l *ledger) Task(_ context.Context, t claudecode.Task) error {
	if l.holds.Task.ID != "" && l.holds.Task.Title != t.Title && !slices.Contains(t.Formerly, l.holds.Task.Title) {
		l.conflict("title %q after %q", t.Title, l.holds.Task.Title)
	}
	t.Formerly = nil
	l.holds.Task = t
	return nil
}

// Session implements claudecode.Sink.
func (l *ledger) Session(_ context.Context, s claudecode.Session) error {
	prior, known := l.holds.Sessions[s.ID]
	switch {
	case known && prior.WorkspacePath != "" && prior.WorkspacePath != s.WorkspacePath:
		l.conflict("workspace %q after %q", s.WorkspacePath, prior.WorkspacePath)
	case known && (prior.AgentID != s.AgentID || prior.AgentType != s.AgentType || prior.ParentID != s.ParentID):
		l.conflict("session %+v after %+v", s, prior)
	}
	l.holds.Sessions[s.ID] = s
	return nil
}

// SessionState implements claudecode.Sink.
func (l *ledger) SessionState(_ context.Context, s claudecode.SessionState) error {
	switch prior := l.holds.States[s.ID]; prior {
	case claudecode.StateCompleted, claudecode.StateFailed, claudecode.StateCancelled:
		if prior != s.State {
			l.conflict("session %s is %s after %s", s.ID, s.State, prior)
		}
	default:
		l.holds.States[s.ID] = s.State
	}
	return nil
}

// Turn implements claudecode.Sink.
func (l *ledger) Turn(_ context.Context, t claudecode.Turn) error {
	of, known := l.holds.Turns[t.ID]
	switch {
	case t.State == claudecode.StateRunning && !known:
		l.holds.Turns[t.ID] = ledgerTurn{Session: t.SessionID, State: t.State, Begun: t.At}
	case t.State == claudecode.StateRunning:
		if !of.Begun.Equal(t.At) {
			l.conflict("turn %s begins at %s after %s", t.ID, t.At, of.Begun)
		}
	case of.End.IsZero() || t.At.After(of.End):
		of.State, of.End = t.State, t.At
		l.holds.Turns[t.ID] = of
	}
	return nil
}

// Message implements claudecode.Sink.
func (l *ledger) Message(_ context.Context, m claudecode.Message) error {
	m.Place.File, m.Settled = "", true
	of := l.holds.Messages[m.SessionID]
	at := slices.IndexFunc(of, func(prior claudecode.Message) bool { return prior.ID == m.ID })
	if at < 0 {
		l.holds.Messages[m.SessionID] = append(of, m)
		for id, run := range l.holds.Executions {
			if run.ChildSessionID == m.SessionID && run.over {
				run.late = true
				l.holds.Executions[id] = run
			}
		}
		return nil
	}
	if !grows(of[at], m) {
		l.conflict("message %+v after %+v", m, of[at])
	}
	of[at] = m
	return nil
}

// grows reports whether m is prior with perhaps more to say.
func grows(prior, m claudecode.Message) bool {
	for _, c := range prior.FileChanges {
		i := slices.IndexFunc(m.FileChanges, func(other claudecode.FileChange) bool { return other.ToolCallID == c.ToolCallID })
		if i < 0 || !same(c.Before, m.FileChanges[i].Before) || !same(c.After, m.FileChanges[i].After) || !same(c.Patch, m.FileChanges[i].Patch) {
			return false
		}
	}
	calls := len(prior.ToolCalls)
	return strings.HasPrefix(m.Content, prior.Content) && strings.HasPrefix(m.Thinking, prior.Thinking) && m.Place == prior.Place &&
		m.TurnID == prior.TurnID && m.Role == prior.Role && m.CreatedAt.Equal(prior.CreatedAt) &&
		len(m.ToolCalls) >= calls && slices.Equal(prior.ToolCalls, m.ToolCalls[:calls])
}

func same(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// ExecutionStart implements claudecode.Sink.
func (l *ledger) ExecutionStart(_ context.Context, e claudecode.ExecutionStart) error {
	e.Place.File = ""
	prior, known := l.holds.Executions[e.ID]
	if !known {
		prior.Start, prior.End = len(l.holds.Messages[e.ChildSessionID]), -1
	} else if prior.ParentMessageID != e.ParentMessageID || prior.AgentID != e.AgentID {
		l.conflict("execution %+v after %+v", e, prior)
	}
	prior.ExecutionStart, prior.over, prior.late = e, prior.End >= 0, false
	l.holds.Executions[e.ID] = prior
	return nil
}

// ExecutionEnd implements claudecode.Sink.
func (l *ledger) ExecutionEnd(_ context.Context, e claudecode.ExecutionEnd) error {
	run := l.holds.Executions[e.ID]
	last := len(l.holds.Messages[run.ChildSessionID])
	switch {
	case run.End < 0:
		run.End, run.Status = last, e.Status
	case run.Status != e.Status:
		l.conflict("execution %s %s after %s", e.ID, e.Status, run.Status)
	case run.late:
		run.End = last
	}
	run.Metrics, run.over, run.late = e.Metrics, false, false
	l.holds.Executions[e.ID] = run
	return nil
}

// settled is what the ledger holds, with the changes of a message in the order of its
// calls: those that come late have the next ordinals.
func (l *ledger) settled() holdings {
	for _, messages := range l.holds.Messages {
		for _, m := range messages {
			slices.SortStableFunc(m.FileChanges, func(a, b claudecode.FileChange) int { return cmp.Compare(a.ToolCallID, b.ToolCallID) })
		}
	}
	return l.holds
}
