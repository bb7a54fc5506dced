package importer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/importer"
	"gatehouse/importer/claudecode"
)

// QU-9: how fast transcripts go into an empty database, reading and all, and how much
// memory that takes. "work" are the samples, again and again under fresh ids; "long" is
// one session of as many megabytes. Ten times as much, on SQLite, should take no more
// memory. The lines that begin with QU-9 are for docs/benchmarks.
func BenchmarkLoad(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program does
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importer.EnoughMemory))
	for _, c := range []struct {
		name     string
		make     func(tb testing.TB, folder string, times int)
		times    int
		dialects map[string]func(testing.TB) string
	}{
		{"work-20MB", copySamples, 8, map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL, "postgres": dbtest.PostgresURL}},
		{"long-20MB", lengthen, 20, map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL, "postgres": dbtest.PostgresURL}},
		{"work-200MB", copySamples, 80, map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL}},
		{"long-200MB", lengthen, 200, map[string]func(testing.TB) string{"sqlite": dbtest.SQLiteURL}},
	} {
		var folder string
		for dialect, url := range c.dialects {
			b.Run(c.name+"/"+dialect, func(b *testing.B) {
				if folder == "" { // as this one is wanted
					folder = filepath.Join(b.TempDir(), c.name)
					c.make(b, folder, c.times)
					defer func() { folder = "" }()
				}
				benchmarkLoad(b, folder, url)
			})
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
	peak, times, busy := uint64(0), []time.Duration{}, time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		w := newWorld(b, dbtest.Open(b, db.Options{URL: url(b), SQLiteSynchronous: db.SynchronousNormal}))
		stop := watchMemory()
		b.StartTimer()
		started, worked := time.Now(), processorTime(b)
		if result := w.load(b, path); result.Added.Messages != result.Messages {
			b.Fatalf("%d of %d messages were new", result.Added.Messages, result.Messages)
		}
		if err := w.store.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
		times, peak = append(times, time.Since(started)), max(peak, stop())
		busy += processorTime(b) - worked
	}
	slices.Sort(times)
	speed := float64(size) / times[len(times)/2].Seconds() / 1e6
	fmt.Fprintf(os.Stdout, "QU-9 %.2f %s, of %d MB/s: %.1f MB, median of %d: %.1f MB/s, best %.1f MB/s, %.1f MB per second of processor time, memory at most %.0f MB\n",
		speed/wantedSpeed, strings.TrimPrefix(b.Name(), "Benchmark"), wantedSpeed, float64(size)/1e6, len(times), speed, float64(size)/times[0].Seconds()/1e6,
		float64(size)*float64(len(times))/busy.Seconds()/1e6, float64(peak)/1e6)
}

// wantedSpeed is what QU-9 asks for, in MB/s on SQLite.
const wantedSpeed = 20

// processorTime is how long processors have worked for this process.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var of syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &of); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(of.Utime.Nano() + of.Stime.Nano())
}

// watchMemory looks at how much memory the program has from the system, again and again
// until stop, which returns the most.
func watchMemory() (stop func() uint64) {
	debug.FreeOSMemory()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		peak := uint64(0)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
			metrics.Read(samples)
			peak = max(peak, samples[0].Value.Uint64()-samples[1].Value.Uint64())
			select {
			case <-done:
				tick.Stop()
				most <- peak
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-most
	}
}

// copySamples copies the samples into a folder n times, as other sessions each time.
func copySamples(tb testing.TB, folder string, n int) {
	tb.Helper()
	for i := range n {
		for _, name := range []string{"experiments-worktrees", "async-agents", "src-deep-manifest", "src-experiments-claude_p"} {
			into := filepath.Join(folder, strconv.Itoa(i), name)
			if err := os.CopyFS(into, os.DirFS(sample(name))); err != nil {
				tb.Fatal(err)
			}
			rename(tb, into)
		}
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
	if err := os.MkdirAll(folder, 0o700); err != nil {
		tb.Fatal(err)
	}
	long, err := os.Create(filepath.Join(folder, "long.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n { // other ids for lines, messages and calls
		part := text
		for _, mark := range []string{`"uuid":"`, `"parentUuid":"`, `"id":"msg_`, `"id":"toolu_`, `"tool_use_id":"toolu_`, `"agentId":"`} {
			part = bytes.ReplaceAll(part, []byte(mark), fmt.Appendf(nil, "%s%d", mark, i))
		}
		if _, err := long.Write(append(bytes.TrimRight(part, "\n"), '\n')); err != nil {
			tb.Fatal(err)
		}
	}
	if err := long.Close(); err != nil {
		tb.Fatal(err)
	}
}
