package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"gatehouse/domain/feed"
	"gatehouse/gen"
)

// How a stream of events treats its connection: how often it is kept alive, how long a
// client may take to read one piece, and how long a piece is. A client that reads a
// piece in time is slow and nothing else; one that does not is cut off (EV-5).
const (
	heartbeatEvery = 15 * time.Second
	writeTimeout   = 5 * time.Second
	writePiece     = 16 << 10 // bytes
)

// StreamEvents implements GET /v1/tasks/{task_id}/events. What is owed at once is read
// before the answer begins, so that what is wrong is answered as a problem.
func (a *API) StreamEvents(ctx context.Context, r gen.StreamEventsRequestObject) (gen.StreamEventsResponseObject, error) {
	stream, err := a.Feed.Open(callerOf(ctx), taskOf(ctx), lastSeen(r.Params.LastEventID))
	if err != nil {
		return nil, err
	}
	first, err := stream.Next(ctx)
	if err != nil {
		stream.Close(feed.ReasonOf(err))
		return nil, err
	}
	return events{ctx, stream, first}, nil
}

// lastSeen is the number in a Last-Event-ID. What is none counts as absent (EV-1).
func lastSeen(id *string) *int64 {
	if id == nil {
		return nil
	}
	seq, err := strconv.ParseInt(*id, 10, 64)
	if err != nil {
		return nil
	}
	return &seq
}

// events is the answer that goes on while the client reads it.
type events struct {
	ctx    context.Context //nolint:containedctx // of the request: the generated code hands on none
	stream *feed.Stream
	first  feed.Batch
}

// VisitStreamEventsResponse implements gen.StreamEventsResponseObject.
func (e events) VisitStreamEventsResponse(w http.ResponseWriter) error {
	why := feed.ReasonLeft // also of a panic
	defer func() { e.stream.Close(why) }()
	out := eventSinkOf(e.ctx)
	if out == nil {
		out = &eventWriter{w: w, control: http.NewResponseController(w)}
	}
	out.begin(e.ctx, e.stream.Err)
	err := e.write(out)
	why = feed.ReasonOf(err)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		why = feed.ReasonSlow
	case errors.Is(err, errUnsent) && why == feed.ReasonFailed:
		why = feed.ReasonLeft
	}
	out.end(e.ctx, why, err)
	if why == feed.ReasonFailed {
		return fmt.Errorf("stream events: %w", err)
	}
	return nil
}

// eventSink is where the events of a stream go: the answer to its request, or a
// WebSocket.
type eventSink interface {
	// begin is told how to find out in between why to stop (EV-6).
	begin(ctx context.Context, over func() error)
	batch(ctx context.Context, b feed.Batch) error
	// heartbeat is called when there was nothing to tell for a while.
	heartbeat() error
	end(ctx context.Context, why feed.Reason, err error)
}

type eventSinkKey struct{}

// withEventSink makes the events of the request of ctx go to a sink.
func withEventSink(ctx context.Context, to eventSink) context.Context {
	return context.WithValue(ctx, eventSinkKey{}, to)
}

// eventSinkOf is nil where the events are the answer.
func eventSinkOf(ctx context.Context) eventSink {
	to, _ := ctx.Value(eventSinkKey{}).(eventSink)
	return to
}

// write writes batches until something ends the stream, which it returns.
func (e events) write(out eventSink) error {
	for batch := e.first; ; {
		if err := onOwnStack(func() error { return out.batch(e.ctx, batch) }); err != nil {
			return err
		}
		for {
			next, err := e.next()
			if err == nil {
				batch = next
				break
			}
			if !errors.Is(err, errQuiet) {
				return err
			}
			if err := onOwnStack(out.heartbeat); err != nil {
				return err
			}
		}
	}
}

// onOwnStack runs write on a stack that goes when it returns. That of the request stands
// on all the steps of the edge, and would have to be twice as large for writing, for as
// long as the stream lasts (QU-8).
func onOwnStack(write func() error) error {
	wrote := make(chan error, 1)
	go func() {
		defer func() {
			if thrown := recover(); thrown != nil {
				wrote <- &panicError{wordsOf(thrown), debug.Stack()}
			}
		}()
		wrote <- write()
	}()
	return <-wrote
}

// errQuiet is that there was nothing to tell for a while.
var errQuiet = errors.New("nothing to tell")

// next waits for the next batch, or for the time to keep the connection alive.
func (e events) next() (feed.Batch, error) {
	ctx, cancel := context.WithTimeoutCause(e.ctx, heartbeatEvery, errQuiet)
	defer cancel()
	return e.stream.Next(ctx)
}

// errUnsent is that the client is gone or, with [os.ErrDeadlineExceeded], does not read.
var errUnsent = errors.New("events not sent")

// eventWriter writes events the way of SSE.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	over    func() error
}

// begin implements eventSink.
func (o *eventWriter) begin(_ context.Context, over func() error) {
	o.over = over
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
}

// batch writes events and sends them on their way. The data of an event is one line, so
// that nothing in it can end the event or begin another one.
func (o *eventWriter) batch(_ context.Context, b feed.Batch) error {
	for _, e := range b.Events {
		head := "event: " + string(e.Name()) + "\n"
		if e.Last {
			head += "id: " + strconv.FormatInt(e.Seq, 10) + "\n"
		}
		for _, part := range [][]byte{[]byte(head + "data: "), e.Data, []byte("\n\n")} {
			if err := o.pieces(part); err != nil {
				return err
			}
		}
	}
	return o.flush()
}

// heartbeat writes a comment, which no client sees and every proxy passes on.
func (o *eventWriter) heartbeat() error {
	if err := o.piece([]byte(":\n\n")); err != nil {
		return err
	}
	return o.flush()
}

// pieces writes data in pieces, each of which has its own time.
func (o *eventWriter) pieces(data []byte) error {
	for len(data) > writePiece {
		if err := o.piece(data[:writePiece]); err != nil {
			return err
		}
		data = data[writePiece:]
	}
	return o.piece(data)
}

func (o *eventWriter) piece(data []byte) error {
	if err := o.over(); err != nil {
		return err
	}
	o.deadline(time.Now().Add(writeTimeout))
	if _, err := o.w.Write(data); err != nil {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	return nil
}

func (o *eventWriter) flush() error {
	if err := o.control.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	return nil
}

// end leaves the connection as it was, for the next request on it.
func (o *eventWriter) end(context.Context, feed.Reason, error) { o.deadline(time.Time{}) }

// deadline bounds the writes to come, where the connection can.
func (o *eventWriter) deadline(at time.Time) { _ = o.control.SetWriteDeadline(at) }
