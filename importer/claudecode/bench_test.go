package claudecode

import (
	"context"
	"testing"
)

// drop is a sink that does nothing.
type drop struct{}

func (drop) Task(context.Context, Task) error                     { return nil }
func (drop) Session(context.Context, Session) error               { return nil }
func (drop) SessionState(context.Context, SessionState) error     { return nil }
func (drop) Turn(context.Context, Turn) error                     { return nil }
func (drop) Message(context.Context, Message) error               { return nil }
func (drop) ExecutionStart(context.Context, ExecutionStart) error { return nil }
func (drop) ExecutionEnd(context.Context, ExecutionEnd) error     { return nil }

// QU-9: how fast transcripts are read, without what a sink does with them.
func BenchmarkRead(b *testing.B) {
	found, err := Discover([]string{samples})
	if err != nil {
		b.Fatal(err)
	}
	var size int64
	for _, f := range found {
		size += f.Size
	}
	b.SetBytes(size)
	for b.Loop() {
		for _, f := range found {
			if err := Read(b.Context(), f, drop{}, NewSummary(), nil); err != nil {
				b.Fatal(err)
			}
		}
	}
}
