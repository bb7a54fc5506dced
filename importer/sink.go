package importer

import (
	"context"
	"slices"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/importer/claudecode"
)

// maxBatchBytes is how much text a batch gathers before it is written. The last
// message may go beyond.
const maxBatchBytes = 1 << 20

// sink is told what one transcript holds, and hands it on as jobs of a [writer].
// Messages are written in batches of one session; everything else is a job of its own,
// behind what was told before it.
type sink struct {
	writer   *writer
	jobs     chan<- job
	summary  *claudecode.Summary
	files    int // of the summary, when a session was told last
	sessions map[string]*told
	batch    batch
}

// job is something to do with the database.
type job func(ctx context.Context) error

// told is what was last told of a session.
type told struct {
	turn time.Time // when its turn began
	at   time.Time // of its message
}

// batch is what was told of one session and is not written yet. Its turns are
// written before its messages, which belong to them.
type batch struct {
	sessionID string
	turns     []session.RecordedTurn
	messages  []history.NewMessage
	places    []claudecode.Place // of the messages
	bytes     int
}

func newSink(w *writer, jobs chan<- job, summary *claudecode.Summary) *sink {
	return &sink{writer: w, jobs: jobs, summary: summary, files: summary.Files, sessions: map[string]*told{}}
}

// do hands a job on. It waits while the database is behind.
func (s *sink) do(ctx context.Context, j job) error {
	select {
	case s.jobs <- j:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// then hands a job on behind the batch.
func (s *sink) then(ctx context.Context, j job) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	return s.do(ctx, j)
}

// Task implements claudecode.Sink. The task is made with its main session: where
// that is elsewhere, nothing is written.
func (s *sink) Task(_ context.Context, t claudecode.Task) error {
	s.writer.task = t // no job is on its way yet
	return nil
}

// Session implements claudecode.Sink.
func (s *sink) Session(ctx context.Context, of claudecode.Session) error {
	at, files := s.writer.task.CreatedAt, s.summary.Files-s.files
	if parent := s.sessions[of.ParentID]; parent != nil { // made when it was called
		at = parent.at
	}
	s.sessions[of.ID], s.files = &told{}, s.summary.Files
	return s.do(ctx, func(ctx context.Context) error { return s.writer.session(ctx, of, at, files) })
}

// SessionState implements claudecode.Sink.
func (s *sink) SessionState(ctx context.Context, state claudecode.SessionState) error {
	at := s.sessions[state.ID].at
	return s.then(ctx, func(ctx context.Context) error { return s.writer.settle(ctx, state, at) })
}

// ExecutionStart implements claudecode.Sink.
func (s *sink) ExecutionStart(ctx context.Context, e claudecode.ExecutionStart) error {
	return s.then(ctx, func(ctx context.Context) error { return s.writer.start(ctx, e) })
}

// ExecutionEnd implements claudecode.Sink.
func (s *sink) ExecutionEnd(ctx context.Context, e claudecode.ExecutionEnd) error {
	return s.then(ctx, func(ctx context.Context) error { return s.writer.end(ctx, e) })
}

// Turn implements claudecode.Sink.
func (s *sink) Turn(ctx context.Context, t claudecode.Turn) error {
	if err := s.about(ctx, t.SessionID); err != nil {
		return err
	}
	of := s.sessions[t.SessionID]
	if t.State == claudecode.StateRunning {
		of.turn = t.At
	}
	if of.turn.IsZero() { // no line tells
		of.turn = s.writer.Clock.other()
	}
	record := recordedTurn(t, of.turn)
	at := slices.IndexFunc(s.batch.turns, func(r session.RecordedTurn) bool { return r.ID == t.ID })
	if at < 0 {
		s.batch.turns = append(s.batch.turns, record)
	} else {
		s.batch.turns[at] = record
	}
	return nil
}

// Message implements claudecode.Sink.
func (s *sink) Message(ctx context.Context, m claudecode.Message) error {
	if err := s.about(ctx, m.SessionID); err != nil {
		return err
	}
	s.sessions[m.SessionID].at = m.CreatedAt
	n, err := newMessage(m)
	if err != nil {
		return err
	}
	s.batch.messages, s.batch.places = append(s.batch.messages, n), append(s.batch.places, m.Place)
	s.batch.bytes += size(n)
	if len(s.batch.messages) < domain.MaxBatch && s.batch.bytes < maxBatchBytes {
		return nil
	}
	return s.flush(ctx)
}

// about makes the batch one about a session.
func (s *sink) about(ctx context.Context, sessionID string) error {
	if s.batch.sessionID == sessionID {
		return nil
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	s.batch.sessionID = sessionID
	return nil
}

// flush hands the batch on.
func (s *sink) flush(ctx context.Context) error {
	b := s.batch
	s.batch = batch{}
	if len(b.turns)+len(b.messages) == 0 {
		return nil
	}
	return s.do(ctx, func(ctx context.Context) error { return s.writer.write(ctx, b) })
}
