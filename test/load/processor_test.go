package load_test

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/test/process"
)

// Processor time, of user and system, says what work costs also where other processes
// make the clock useless: it is told in milliseconds for each piece of work.

// serverProcessorTime is what a server has used since its start, to about 10 ms.
func serverProcessorTime(b *testing.B, s *process.Server) time.Duration {
	b.Helper()
	answer, err := s.Send(b.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(answer.Body)) {
		if text, ok := strings.CutPrefix(line, "process_cpu_seconds_total "); ok {
			seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				b.Fatal(err)
			}
			return time.Duration(seconds * float64(time.Second))
		}
	}
	b.Fatalf("status %d, and no metric of processor time", answer.Status)
	return 0
}

// ownProcessorTime is what this process has used since its start.
func ownProcessorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// spend adds what this process has used since start to spent.
func spend(b *testing.B, spent *time.Duration, start time.Duration) {
	b.Helper()
	*spent += ownProcessorTime(b) - start
}
