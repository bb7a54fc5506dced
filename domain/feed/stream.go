package feed

import (
	"context"
	"errors"
	"slices"
	"sync"

	"gatehouse/domain/access"
	"gatehouse/domain/task"
)

// everything is the number after which everything was stamped.
const everything = -1

// Stream is one follower of a task. One goroutine at a time uses it; Err, Ended and
// Close may be called from any.
type Stream struct {
	service *Service
	room    *room
	caller  access.Caller

	at     int64 // the number it stands at
	later  int64 // the reading that the first one must be later than, then -1
	ending sync.Once
	ended  chan struct{}
	err    error // set before ended is closed
}

// Batch is what a stream is owed at one time.
type Batch struct {
	// Events are in the order in which they are told: of their stamps, [Ready] behind
	// all others of the first batch.
	Events []Event
	// Seq is the number at which the stream stands when it has told them.
	Seq int64

	ready Event // for those of whom it is the first
}

func newStream(s *Service, r *room, c access.Caller, since *int64) *Stream {
	st := &Stream{service: s, room: r, caller: c, at: everything, later: r.arrive(), ended: make(chan struct{})}
	if since != nil && *since >= 0 {
		st.at = *since
	}
	return st
}

// Next waits until the stream is owed something and returns it. The first batch comes
// at once, perhaps with nothing but [Ready]. When ctx ends first, Next returns its cause,
// and may be called again. Every other error ends the stream: [task.ErrNotFound],
// [access.ErrUnauthenticated], [ErrEnded], or that of the database.
func (s *Stream) Next(ctx context.Context) (Batch, error) {
	for {
		if err := s.await(ctx); err != nil {
			return Batch{}, err
		}
		b, err := s.read(ctx)
		if err != nil {
			return Batch{}, err
		}
		first := s.later >= 0
		if !first && b.Seq == s.at {
			continue // it was read before what woke us
		}
		s.at, s.later = b.Seq, -1
		if first {
			return b.withReady(), nil
		}
		return b, nil
	}
}

// await returns when there may be something to read.
func (s *Stream) await(ctx context.Context) error {
	for {
		told, moved := s.room.standing()
		if err := s.over(ctx); err != nil {
			return err
		}
		if s.later >= 0 || told > s.at {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-s.ended:
		case <-moved:
		}
	}
}

// over is why there is nothing to wait for, nil while there is.
func (s *Stream) over(ctx context.Context) error {
	if err := s.Err(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// read returns what there is from where the stream stands, which others may have read.
func (s *Stream) read(ctx context.Context) (Batch, error) {
	for {
		rd := s.room.from(s.at, s.later, func(rd *reading) {
			rd.batch, rd.err = s.service.owed(s.room.ctx, s.room.taskID, rd.since)
		})
		select {
		case <-rd.done:
		case <-ctx.Done():
		case <-s.ended:
		}
		switch err := s.over(ctx); {
		case err != nil:
			return Batch{}, err
		case rd.no <= s.later: // it may have begun before the stream did
		case errors.Is(rd.err, task.ErrNotFound):
			s.service.empty(s.room, rd.err)
			return Batch{}, rd.err
		case rd.err != nil:
			s.end(rd.err)
			return Batch{}, rd.err
		default:
			return rd.batch, nil
		}
	}
}

// withReady is b as the first batch.
func (b Batch) withReady() Batch {
	b.Events = append(slices.Clip(b.Events), b.ready)
	return b
}

// end ends the stream on our side, once.
func (s *Stream) end(err error) {
	s.ending.Do(func() {
		s.err = err
		close(s.ended)
	})
}

// Err is why the stream has ended on our side, nil while it has not. A transport that
// writes for long asks it in between (EV-6).
func (s *Stream) Err() error {
	select {
	case <-s.ended:
		return s.err
	default:
		return nil
	}
}

// Ended is closed when there is an Err.
func (s *Stream) Ended() <-chan struct{} { return s.ended }

// Close ends the stream, and counts why. Closing it again changes nothing.
func (s *Stream) Close(why Reason) {
	s.end(context.Canceled)
	s.service.leave(s, why)
}
