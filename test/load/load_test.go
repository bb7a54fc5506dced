// Package load_test measures the service against what its database can do at best:
// the same statements, prepared, straight on the driver, with the same durability and
// in the same run. What it reports are ratios; docs/benchmarks says how to run it and
// what was found.
package load_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/test/process"
)

func TestMain(m *testing.M) { os.Exit(process.Main(m)) }

// How often two sides of a comparison take turns: an odd number has a median that
// was measured. The turns are short, and many, where a turn costs nothing to begin,
// so that what else the machine does meets both sides.
const (
	shortTurns = 31
	longTurns  = 7 // pgbench connects anew for each
)

// compare lets the sides of a comparison take turns, each doing n pieces of work, and
// reports the median of the ratios of their speeds as the figure of a goal, beside the
// median speeds in pieces per second. The first round, which warms both up, does not
// count.
func compare(b *testing.B, goal string, turns, n int, ours, raw func(round int) time.Duration) {
	b.Helper()
	var ratios, own, best []float64
	for round := range turns + 1 {
		rawTime, ourTime := raw(round), ours(round)
		if round == 0 {
			continue
		}
		own = append(own, float64(n)/ourTime.Seconds())
		best = append(best, float64(n)/rawTime.Seconds())
		ratios = append(ratios, rawTime.Seconds()/ourTime.Seconds())
	}
	b.Logf("ratios %.2f", ratios)
	figure(b, goal, median(ratios), "%.0f/s against %.0f/s, medians of %d turns", median(own), median(best), turns)
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(own), "ours/s")
	b.ReportMetric(median(best), "raw/s")
	b.ReportMetric(0, "ns/op") // of a whole comparison: it says nothing
}

// figure prints what the benchmarks are for: a line that begins with the id of a goal of
// docs/design/90-quality.md and the ratio that it is about, and says of what.
func figure(b *testing.B, goal string, ratio float64, format string, args ...any) {
	b.Helper()
	fmt.Fprintf(os.Stdout, "%s %.2f %s: %s\n", goal, ratio, strings.TrimPrefix(b.Name(), "Benchmark"), fmt.Sprintf(format, args...))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
