package claudecode

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// FuzzTranscript: whatever a file holds, it is read to its end, told in order, and
// told again the same way (HI-30, HI-31).
func FuzzTranscript(f *testing.F) {
	s := &script{}
	f.Add([]byte(text(s.prompt("go"), s.calls("m1", "c1", "Task", task("left")), s.prompt("left", side, entry{"parentUuid": nil}))))
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"x"}]}}{"type":"assistant"`))
	f.Add([]byte("{\"a\":\xff}\n[]\n\x00"))
	inline, err := os.ReadFile(filepath.Join(samples, "inline-sidechain", "task_non_sdk.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(inline[:8000])
	f.Fuzz(func(t *testing.T, text []byte) {
		first, second := newRecorder(t), newRecorder(t)
		for _, r := range []*recorder{first, second} {
			if err := readBytes(t.Context(), text, r); err != nil {
				t.Fatal(err)
			}
		}
		if len(first.messages) != len(second.messages) || len(first.starts) != len(second.starts) {
			t.Error("two readings differ")
		}
		for i, m := range first.messages {
			if !utf8.ValidString(m.Content + m.Thinking) {
				t.Error("text that is no UTF-8")
			}
			for _, c := range m.ToolCalls {
				if !utf8.ValidString(c.Arguments + c.Summary) {
					t.Error("arguments that are no UTF-8")
				}
			}
			if m.ID != second.messages[i].ID {
				t.Error("two readings differ")
			}
		}
	})
}

// readBytes reads text as a transcript without a file.
func readBytes(ctx context.Context, text []byte, sink Sink) error {
	summary := NewSummary()
	return read(ctx, Transcript{Path: "/nowhere/memory.jsonl", Size: int64(len(text))}, &reader{
		sink: counter{sink, summary}, summary: summary, progress: func(int64) {}, limit: 1 << 20,
		open: func(path string) (*file, func() error, error) {
			return &file{path, bytes.NewReader(text), int64(len(text))}, func() error { return nil }, nil
		},
	})
}
