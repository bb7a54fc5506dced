package importer_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/importer/claudecode"
)

// QU-9: how fast transcripts go into an empty database, reading and all. "work" are
// the samples, each several times under other names; "long" is one session of many
// megabytes. "×reading" is how many times as long it takes as reading alone.
func BenchmarkLoad(b *testing.B) {
	folder := b.TempDir()
	work := filepath.Join(folder, "work")
	for i := range 8 { // 20 MB
		copySamples(b, filepath.Join(work, strconv.Itoa(i)))
	}
	long := filepath.Join(folder, "long")
	lengthen(b, long, 20)
	for name, path := range map[string]string{"work": work, "long": long} {
		for dialect, url := range map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL, "postgres": dbtest.PostgresURL} {
			b.Run(name+"/"+dialect, func(b *testing.B) { benchmarkLoad(b, path, url) })
		}
	}
}

func benchmarkLoad(b *testing.B, path string, url func(testing.TB) string) {
	found, err := claudecode.Discover([]string{path})
	if err != nil {
		b.Fatal(err)
	}
	var size int64
	for _, f := range found {
		size += f.Size
	}
	b.SetBytes(size)
	started := time.Now()
	for _, f := range found {
		if err := claudecode.Read(b.Context(), f, nowhere{}, claudecode.NewSummary(), nil); err != nil {
			b.Fatal(err)
		}
	}
	reading := time.Since(started)
	for b.Loop() {
		b.StopTimer()
		w := newWorld(b, dbtest.Open(b, db.Options{URL: url(b), SQLiteSynchronous: db.SynchronousNormal}))
		b.StartTimer()
		if result := w.load(b, path); result.Added.Messages != result.Messages {
			b.Fatalf("%d of %d messages were new", result.Added.Messages, result.Messages)
		}
		if err := w.store.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(reading), "×reading")
}

// nowhere is a sink that keeps nothing.
type nowhere struct{}

func (nowhere) Task(context.Context, claudecode.Task) error                     { return nil }
func (nowhere) Session(context.Context, claudecode.Session) error               { return nil }
func (nowhere) SessionState(context.Context, claudecode.SessionState) error     { return nil }
func (nowhere) Turn(context.Context, claudecode.Turn) error                     { return nil }
func (nowhere) Message(context.Context, claudecode.Message) error               { return nil }
func (nowhere) ExecutionStart(context.Context, claudecode.ExecutionStart) error { return nil }
func (nowhere) ExecutionEnd(context.Context, claudecode.ExecutionEnd) error     { return nil }

// copySamples copies the samples into a folder, as other sessions.
func copySamples(tb testing.TB, folder string) {
	tb.Helper()
	for _, name := range []string{"experiments-worktrees", "async-agents", "src-deep-manifest", "src-experiments-claude_p"} {
		into := filepath.Join(folder, name)
		if err := os.CopyFS(into, os.DirFS(sample(name))); err != nil {
			tb.Fatal(err)
		}
		rename(tb, into)
	}
}

// rename gives the session in a folder another id.
func rename(tb testing.TB, folder string) {
	tb.Helper()
	found, err := claudecode.Discover([]string{folder})
	if err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(found[0].Path)
	if err != nil {
		tb.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), `"sessionId":"`)
	old, _, _ := strings.Cut(after, `"`)
	id := domain.NewID()
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.ReplaceAll(text, []byte(old), []byte(id)), 0o600)
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// lengthen writes a session that goes through the same work n times.
func lengthen(tb testing.TB, folder string, n int) {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(sample("src-deep-manifest"), "a7da6a22-facc-4fcd-8bab-f83c87862004.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	var long []byte
	for i := range n { // other ids for lines, messages and calls
		part := text
		for _, mark := range []string{`"uuid":"`, `"parentUuid":"`, `"id":"msg_`, `"id":"toolu_`, `"tool_use_id":"toolu_`, `"agentId":"`} {
			part = bytes.ReplaceAll(part, []byte(mark), fmt.Appendf(nil, "%s%d", mark, i))
		}
		long = append(long, part...)
		if long[len(long)-1] != '\n' {
			long = append(long, '\n')
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "long.jsonl"), long, 0o600); err != nil {
		tb.Fatal(err)
	}
}
