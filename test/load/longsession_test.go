package load_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// Sizes of the sessions that QU-5 compares, in messages.
var longSessions = []int{1_000, 100_000, 1_000_000}

// BenchmarkLongSession measures reads over HTTP of sessions that differ in nothing but
// their length (QU-5): the newest page, one at a cursor in the middle, the newest rounds
// with what they merge, and pages of the lists beside the transcript. The ratio is how
// many times as long the read takes as in the shortest session.
func BenchmarkLongSession(b *testing.B) {
	eachNewURL(b, func(b *testing.B, newURL func(testing.TB) string) {
		var sessions []longSession
		for _, n := range longSessions {
			url := newURL(b)
			id := dbtest.LongSession(b, url, n)
			server := process.Start(b, url, "--log-level=info")
			sessions = append(sessions, longSession{n: n, path: "/v1/sessions/" + id, url: server.URL})
		}
		for i, s := range sessions { // now: a connection that is not used is closed
			sessions[i].client = newWire(b, s.url)
		}
		for name, read := range map[string]func(longSession) string{
			"last":       func(s longSession) string { return s.path + "/messages?limit=50" },
			"middle":     func(s longSession) string { return fmt.Sprintf("%s/messages?limit=50&before=%d", s.path, s.n/2+51) },
			"rounds":     func(s longSession) string { return s.path + "/rounds?limit=5" },
			"executions": func(s longSession) string { return s.path + "/subagent-executions?limit=50" },
			"contexts":   func(s longSession) string { return s.path + "/subagents?limit=50" },
		} {
			b.Run(name, func(b *testing.B) { compareLengths(b, sessions, read) })
		}
	})
}

type longSession struct {
	n      int
	path   string
	url    string
	client *wire
}

// compareLengths lets the sessions take turns and reports the median of the ratios to
// the first of them.
func compareLengths(b *testing.B, sessions []longSession, read func(longSession) string) {
	b.Helper()
	ratios, speeds := make([][]float64, len(sessions)), make([][]float64, len(sessions))
	for round := range shortTurns + 1 {
		var first time.Duration
		for i, s := range sessions {
			took := timed(b, pagesPerRound, func() error {
				if status, err := s.client.send(http.MethodGet, read(s), ""); err != nil || status != http.StatusOK {
					return fmt.Errorf("status %d, %w", status, err)
				}
				return nil
			})
			if i == 0 {
				first = took
			}
			if round > 0 { // which warms up
				ratios[i] = append(ratios[i], took.Seconds()/first.Seconds())
				speeds[i] = append(speeds[i], pagesPerRound/took.Seconds())
			}
		}
	}
	for i, s := range sessions {
		b.ReportMetric(median(speeds[i]), fmt.Sprintf("of-%d/s", s.n))
		if i > 0 {
			b.ReportMetric(median(ratios[i]), fmt.Sprintf("ratio-%d", s.n))
		}
	}
	b.ReportMetric(0, "ns/op") // of a whole comparison: it says nothing
}
