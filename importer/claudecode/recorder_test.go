package claudecode

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
)

// samples is where real transcripts stand.
const samples = "../../testdata/transcripts/claude-code"

// anywhere compares messages wherever they stand.
var anywhere = cmpopts.IgnoreFields(Message{}, "Place")

// recorder is a sink that keeps everything and checks the order it is told in.
type recorder struct {
	t        testing.TB
	order    []string // ids of messages, per session, as "session message"
	task     Task
	sessions []Session
	states   map[string]State
	turns    []Turn
	ended    map[string]State // turns
	messages []Message
	byID     map[string]Message
	starts   []ExecutionStart
	ends     map[string]ExecutionEnd
	current  []string // sessions of the executions being told
}

func newRecorder(t testing.TB) *recorder {
	return &recorder{
		t: t, states: map[string]State{}, ended: map[string]State{},
		byID: map[string]Message{}, ends: map[string]ExecutionEnd{},
	}
}

// Task implements Sink.
func (r *recorder) Task(_ context.Context, task Task) error {
	r.task = task
	return nil
}

// Session implements Sink.
func (r *recorder) Session(_ context.Context, s Session) error {
	if s.TaskID != r.task.ID {
		r.t.Errorf("session %s: told without its task", s.ID)
	}
	for _, known := range r.sessions {
		if known.ID == s.ID {
			r.t.Errorf("session %s: told twice", s.ID)
		}
	}
	r.sessions = append(r.sessions, s)
	return nil
}

// SessionState implements Sink.
func (r *recorder) SessionState(_ context.Context, s SessionState) error {
	r.states[s.ID] = s.State
	r.leave(s.ID) // a run without an end is left by this
	return nil
}

// Turn implements Sink.
func (r *recorder) Turn(_ context.Context, turn Turn) error {
	if _, begun := r.ended[turn.ID]; begun == (turn.State == StateRunning) {
		r.t.Errorf("turn %s: %s, begun %v", turn.ID, turn.State, begun)
	}
	r.ended[turn.ID] = turn.State
	r.turns = append(r.turns, turn)
	return nil
}

// Message implements Sink.
func (r *recorder) Message(_ context.Context, m Message) error {
	switch {
	case m.Metadata == nil:
		r.t.Errorf("message %s: nil metadata", m.ID)
	case len(r.current) == 0 && m.SessionID != r.sessions[0].ID,
		len(r.current) > 0 && m.SessionID != r.current[len(r.current)-1]:
		r.t.Errorf("message %s: outside of the execution of its session", m.ID)
	}
	if m.TurnID != "" && r.ended[m.TurnID] == "" {
		r.t.Errorf("message %s: before its turn", m.ID)
	}
	r.order = append(r.order, m.SessionID+" "+m.ID)
	r.messages = append(r.messages, m)
	r.byID[m.ID] = m
	return nil
}

// ExecutionStart implements Sink.
func (r *recorder) ExecutionStart(_ context.Context, e ExecutionStart) error {
	if _, told := r.byID[e.ParentMessageID]; !told {
		r.t.Errorf("execution %s: before the message that calls it", e.ID)
	}
	r.starts = append(r.starts, e)
	r.current = append(r.current, e.ChildSessionID)
	return nil
}

// ExecutionEnd implements Sink.
func (r *recorder) ExecutionEnd(_ context.Context, e ExecutionEnd) error {
	r.ends[e.ID] = e
	at := slices.IndexFunc(r.starts, func(s ExecutionStart) bool { return s.ID == e.ID })
	r.leave(r.starts[at].ChildSessionID)
	return nil
}

// leave notes that the run of session that is told, if it is one, is over.
func (r *recorder) leave(session string) {
	if n := len(r.current); n > 0 && r.current[n-1] == session {
		r.current = r.current[:n-1]
	}
}

// readAll reads all transcripts at the paths into a recorder each.
func readAll(t testing.TB, paths ...string) ([]*recorder, *Summary) {
	t.Helper()
	found, err := Discover(paths)
	if err != nil {
		t.Fatal(err)
	}
	summary := NewSummary()
	var recorders []*recorder
	for _, f := range found {
		r := newRecorder(t)
		var done int64
		if err := Read(t.Context(), f, r, summary, func(n int64) { done += n }); err != nil {
			t.Fatal(err)
		}
		if done != f.Size {
			t.Errorf("%s: progress of %d bytes, want %d", filepath.Base(f.Path), done, f.Size)
		}
		recorders = append(recorders, r)
	}
	return recorders, summary
}

// readSample reads one sample, which holds one transcript.
func readSample(t testing.TB, name string) (*recorder, *Summary) {
	t.Helper()
	recorders, summary := readAll(t, filepath.Join(samples, name))
	if len(recorders) != 1 {
		t.Fatalf("%s: %d transcripts, want 1", name, len(recorders))
	}
	return recorders[0], summary
}

// changes counts the file changes of each session by type and form.
func (r *recorder) changes(session string) map[string]int {
	counts := map[string]int{}
	for _, m := range r.messages {
		for _, c := range m.FileChanges {
			form := "snapshot"
			switch {
			case c.Patch != nil:
				form = "patch"
			case c.ChangeType == Modified && c.Before == nil:
				form = "overwrite"
			}
			if session == m.SessionID {
				counts[fmt.Sprintf("%s %s", c.ChangeType, form)]++
			}
		}
	}
	return counts
}

// count counts the messages of a session by role and type.
func (r *recorder) count(session string) map[string]int {
	counts := map[string]int{}
	for _, m := range r.messages {
		if m.SessionID == session {
			counts[string(m.Role)+" "+string(m.Type)]++
		}
	}
	return counts
}
