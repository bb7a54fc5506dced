package load_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// Sizes of the sessions that QU-5 compares, in messages. The largest takes minutes to
// make, and is there when millionVariable is set.
var longSessions = []int{1_000, 100_000, 1_000_000}

const millionVariable = "GATEHOUSE_BENCH_MILLION"

// How often the sessions and reads take turns, and reads of one turn.
const (
	lengthTurns  = 15
	readsPerTurn = 10
)

// longRead is a read of a session of n messages. Those that show the same number of
// messages, delegations and changes can be compared with one another.
type longRead struct {
	name string
	path func(n int) string
}

const pageOfLong = "/messages?limit=50"

var longReads = []longRead{
	{"last page", func(int) string { return pageOfLong }},
	{"middle page", func(n int) string { return fmt.Sprintf("%s&before=%d", pageOfLong, n/2+51) }},
	{"first page", func(int) string { return pageOfLong + "&before=51" }},
	{"first page, paging on", func(int) string { return pageOfLong + "&after=0" }},
	{"last rounds", func(int) string { return "/messages?rounds=5" }},
	{"list of rounds", func(int) string { return "/rounds?limit=5" }},
	{"merged list of one round", func(n int) string { return fmt.Sprintf("/rounds?limit=1&before=%d", n-39) }},
	{"executions", func(int) string { return "/subagent-executions?limit=50" }},
	{"contexts", func(int) string { return "/subagents?limit=50" }},
}

// BenchmarkLongSession measures reads over HTTP of sessions that differ in nothing but
// their length (QU-5): pages at both ends and in the middle, rounds and what they
// merge, and the lists beside the transcript. Its lines that begin with QU-5 say how
// long each takes, how many times as long as in the shortest session, and how many
// times as long as the first page the others of the same session do.
func BenchmarkLongSession(b *testing.B) {
	eachNewURL(b, func(b *testing.B, newURL func(testing.TB) string) {
		sizes := longSessions
		if os.Getenv(millionVariable) == "" {
			sizes = sizes[:len(sizes)-1]
		}
		database := b.Name()[strings.LastIndex(b.Name(), "/")+1:]
		var sessions []longSession
		for _, n := range sizes {
			url, start := newURL(b), time.Now()
			id := dbtest.LongSession(b, url, n)
			fmt.Fprintf(os.Stdout, "QU-5 %s: a session of %d messages was made in %.0f s\n", database, n, time.Since(start).Seconds())
			server := process.Start(b, url, "--log-level=info")
			sessions = append(sessions, longSession{n: n, path: "/v1/sessions/" + id, url: server.URL, times: map[string][]float64{}})
		}
		for i, s := range sessions { // now: a connection that is not used is closed
			sessions[i].client = newWire(b, s.url)
		}
		for turn := range lengthTurns + 1 {
			for _, r := range longReads {
				for _, s := range sessions {
					s.measure(b, r, turn > 0) // the first warms up
				}
			}
		}
		for _, r := range longReads {
			reportLengths(b, r.name, sessions)
		}
		for _, s := range sessions {
			s.measureWhole(b, database)
		}
		b.ReportMetric(0, "ns/op") // of a whole comparison: it says nothing
	})
}

type longSession struct {
	n      int
	path   string
	url    string
	client *wire
	times  map[string][]float64 // of the turns of each read, in milliseconds
}

func (s longSession) get(path string) error {
	if status, err := s.client.send(http.MethodGet, s.path+path, ""); err != nil || status != http.StatusOK {
		return fmt.Errorf("status %d, %w", status, err)
	}
	return nil
}

func (s longSession) measure(b *testing.B, r longRead, counts bool) {
	b.Helper()
	path := r.path(s.n)
	took := timed(b, readsPerTurn, func() error { return s.get(path) })
	if counts {
		s.times[r.name] = append(s.times[r.name], took.Seconds()*1000/readsPerTurn)
	}
}

// measureWhole measures the one read that is as long as the session: the merged list
// of all of it, of which every page knows what came before.
func (s longSession) measureWhole(b *testing.B, database string) {
	b.Helper()
	var times []float64
	for range 3 {
		times = append(times, timed(b, 1, func() error { return s.get("/file-changes?limit=50&diffs=none") }).Seconds()*1000)
	}
	fmt.Fprintf(os.Stdout, "QU-5 %s, merged list of the whole session, %d messages: %.1f ms\n", database, s.n, median(times))
}

// reportLengths prints the medians of a read, and the medians of its ratios, each of
// times of one turn.
func reportLengths(b *testing.B, name string, sessions []longSession) {
	b.Helper()
	for _, s := range sessions {
		figure(b, "QU-5", medianRatio(s.times[name], sessions[0].times[name]), "%s, %d messages, by the shortest session: %.2f ms, %.2f of the first page",
			name, s.n, median(s.times[name]), medianRatio(s.times[name], s.times["first page"]))
	}
}

func medianRatio(of, to []float64) float64 {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = of[i] / to[i]
	}
	return median(ratios)
}
