package claudecode

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// marker stands for the number of a block.
const marker = "########"

// repeated is a file of equal blocks, each with its own number.
type repeated struct{ block []byte }

// ReadAt implements io.ReaderAt.
func (r repeated) ReadAt(p []byte, off int64) (int, error) {
	size := int64(len(r.block))
	for n := 0; n < len(p); {
		at := off + int64(n)
		block := bytes.ReplaceAll(r.block, []byte(marker), fmt.Appendf(nil, "%08d", at/size))
		n += copy(p[n:], block[at%size:])
	}
	return len(p), nil
}

// gauge is a sink that looks at the heap now and then.
type gauge struct {
	*recorder

	messages int
	peak     uint64
}

// Message implements Sink and forgets the message.
func (g *gauge) Message(context.Context, Message) error {
	if g.messages++; g.messages%50 == 0 {
		g.peak = max(g.peak, heap())
	}
	return nil
}

// HI-33: memory does not grow with the file. What is kept of 64 MiB is no more than
// the texts that a task remembers, and a sixteenth.
func TestMemoryIsFlat(t *testing.T) {
	s := &script{}
	pad := strings.Repeat("many words that nobody will need again ", 3_000)
	unique := func(e entry) entry {
		e["uuid"] = e["uuid"].(string) + marker
		return e
	}
	block := []byte(text(
		unique(s.prompt("go")), unique(s.says("m"+marker, pad)),
		unique(s.calls("m"+marker, "c"+marker, "Write", entry{"file_path": "/w/a" + marker, "content": pad})),
		unique(s.answers("c"+marker, "File created successfully at: /w/a", nil)),
	))
	size := int64(len(block)) * (64 << 20 / int64(len(block)))

	before := heap()
	g := &gauge{recorder: newRecorder(t)}
	summary := NewSummary()
	err := read(t.Context(), Transcript{Path: "/nowhere/large.jsonl", Size: size}, &reader{
		sink: counter{g, summary}, summary: summary, progress: func(int64) {}, limit: MaxLine,
		open: func(path string) (*file, func() error, error) {
			return &file{path, repeated{block}, size}, func() error { return nil }, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if g.messages < 200 || g.peak == 0 {
		t.Fatalf("%d messages, want many more", g.messages)
	}
	if grown := int64(g.peak) - int64(before); grown > knownBytes+64<<20/16 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// heap is how many bytes are alive.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
