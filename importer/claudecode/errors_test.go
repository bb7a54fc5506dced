package claudecode

import (
	"context"
	"errors"
	"testing"
)

var errSink = errors.New("sink")

// failing is a sink that fails at the nth thing it is told.
type failing struct {
	*recorder

	n int
}

func (f *failing) next() error {
	if f.n--; f.n < 0 {
		return errSink
	}
	return nil
}

// Task implements Sink.
func (f *failing) Task(ctx context.Context, t Task) error {
	return errors.Join(f.next(), f.recorder.Task(ctx, t))
}

// Turn implements Sink.
func (f *failing) Turn(ctx context.Context, t Turn) error {
	return errors.Join(f.next(), f.recorder.Turn(ctx, t))
}

// Message implements Sink.
func (f *failing) Message(ctx context.Context, m Message) error {
	return errors.Join(f.next(), f.recorder.Message(ctx, m))
}

// ExecutionStart implements Sink.
func (f *failing) ExecutionStart(ctx context.Context, e ExecutionStart) error {
	return errors.Join(f.next(), f.recorder.ExecutionStart(ctx, e))
}

// ExecutionEnd implements Sink.
func (f *failing) ExecutionEnd(ctx context.Context, e ExecutionEnd) error {
	return errors.Join(f.next(), f.recorder.ExecutionEnd(ctx, e))
}

// What a sink fails at ends the transcript at once, wherever it is.
func TestFailingSink(t *testing.T) {
	found, err := Discover([]string{samples + "/inline-sidechain"})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		sink := &failing{newRecorder(t), n}
		err := Read(t.Context(), found[0], sink, NewSummary(), nil)
		if err == nil {
			if n < 15 {
				t.Errorf("no failure at %d", n)
			}
			return
		}
		if !errors.Is(err, errSink) || sink.n != -1 {
			t.Fatalf("failure at %d: %v, and told %d more", n, err, -1-sink.n)
		}
	}
}

// A file that is gone and a context that is done are errors, not problems.
func TestReadErrors(t *testing.T) {
	summary := NewSummary()
	if err := Read(t.Context(), Transcript{Path: t.TempDir() + "/gone.jsonl"}, newRecorder(t), summary, nil); err == nil {
		t.Error("a file that is gone: no error")
	}
	if summary.Skipped[ReasonUnreadable] != 1 {
		t.Errorf("skipped %v, want the file named", summary.Skipped)
	}
	found, err := Discover([]string{samples + "/inline-sidechain"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Read(ctx, found[0], newRecorder(t), NewSummary(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is done: %v", err)
	}
}
