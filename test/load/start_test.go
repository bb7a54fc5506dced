package load_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/test/process"
)

// What QU-10 gives a start, a server that has nothing to do, and the program.
const (
	startWithin  = 150 * time.Millisecond
	idleBytes    = 40 << 20
	programBytes = 40 << 20
)

const (
	starts      = 15
	startedWith = 1000 // tasks with comments in the database
)

// BenchmarkStart measures a start on a database that is in use, to the line that says
// where the server listens, which it says when it is ready; and its anonymous memory
// then (QU-10).
func BenchmarkStart(b *testing.B) {
	eachNewURL(b, func(b *testing.B, newURL func(testing.TB) string) {
		url := newURL(b)
		_ = seed(b, url, startedWith).Close()
		var times, memory []float64
		for n := range starts + 1 {
			start := time.Now()
			server := process.Start(b, url, "--log-level=info")
			took := time.Since(start)
			if n > 0 { // the first one reads the program from the disk
				times = append(times, took.Seconds())
				memory = append(memory, float64(anonymousBytes(b, server)))
			}
			server.Stop(b)
		}
		figure(b, "QU-10", median(times)/startWithin.Seconds(), "of %s from the start to ready: %.0f ms, median of %d", startWithin, median(times)*1000, starts)
		figure(b, "QU-10", median(memory)/idleBytes, "of %d MiB of anonymous memory when idle: %.1f MiB", idleBytes>>20, median(memory)/(1<<20))
		b.ReportMetric(0, "ns/op") // of a whole comparison: it says nothing
	})
	b.Run("program", func(b *testing.B) {
		file := filepath.Join(b.TempDir(), "gatehouse")
		build := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, "gatehouse/cmd/gatehouse")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		figure(b, "QU-10", float64(info.Size())/programBytes, "of %d MiB: %.1f MiB", programBytes>>20, float64(info.Size())/(1<<20))
		b.ReportMetric(0, "ns/op") // of a whole comparison: it says nothing
	})
}

// anonymousBytes is the memory of a server that no file is behind.
func anonymousBytes(b *testing.B, s *process.Server) int64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", s.PID()))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "Anonymous:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib << 10
		}
	}
	b.Fatal("the system does not say")
	return 0
}
