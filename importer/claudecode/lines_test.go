package claudecode

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const testSession = "0b9f2f5a-6c8d-4a51-9d55-0f6e6d0c1a2b"

// entry is a line of a made-up transcript.
type entry map[string]any

// script makes lines, each with a UUID and a time of its own.
type script struct{ n int }

func (s *script) line(kind string, message any, with ...entry) entry {
	s.n++
	e := entry{
		"type": kind, "uuid": "u" + strconv.Itoa(s.n), "sessionId": testSession, "cwd": "/w",
		"timestamp": "2031-01-02T03:04:" + strconv.Itoa(10+s.n%50) + ".000Z", "message": message,
	}
	for _, w := range with {
		maps.Copy(e, w)
	}
	return e
}

// prompt is a line that a person typed.
func (s *script) prompt(text string, with ...entry) entry {
	return s.line("user", entry{"role": "user", "content": text}, with...)
}

// says is a line of text of an assistant message.
func (s *script) says(id, text string, with ...entry) entry {
	return s.line("assistant", entry{"id": id, "role": "assistant", "content": []entry{{"type": "text", "text": text}}}, with...)
}

// calls is a line of an assistant message that calls a tool.
func (s *script) calls(id, call, tool string, input entry, with ...entry) entry {
	block := entry{"type": "tool_use", "id": call, "name": tool, "input": input}
	return s.line("assistant", entry{"id": id, "role": "assistant", "content": []entry{block}}, with...)
}

// answers is a line with the result of a call; detail is for the program.
func (s *script) answers(call, text string, detail any, with ...entry) entry {
	block := entry{"type": "tool_result", "tool_use_id": call, "content": text}
	e := s.line("user", entry{"role": "user", "content": []entry{block}}, with...)
	if detail != nil {
		e["toolUseResult"] = detail
	}
	if d, ok := detail.(string); ok && strings.HasPrefix(d, "Error") {
		block["is_error"] = true
	}
	return e
}

func (e entry) String() string {
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// text puts lines together as a file.
func text(entries ...entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.String() + "\n")
	}
	return b.String()
}

// write puts files in a folder of their own.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// readFiles reads a folder with one transcript.
func readFiles(t testing.TB, files map[string]string) (*recorder, *Summary) {
	t.Helper()
	recorders, summary := readAll(t, write(t, files))
	if len(recorders) != 1 {
		t.Fatalf("%d transcripts, want 1", len(recorders))
	}
	return recorders[0], summary
}

// readText reads a transcript without files beside it.
func readText(t testing.TB, text string) (*recorder, *Summary) {
	t.Helper()
	return readFiles(t, map[string]string{testSession + ".jsonl": text})
}

// skips counts reasons as a summary does.
func skips(reasons ...Reason) map[Reason]int {
	counts := make(map[Reason]int)
	for _, r := range reasons {
		counts[r]++
	}
	return counts
}
