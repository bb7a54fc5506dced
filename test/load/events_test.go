package load_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/test/process"
)

// What QU-8 names, and how often it is tried.
const (
	subscribers  = 1_000
	changes      = 300
	otherPrompts = 200 // per turn
)

// BenchmarkEvents measures 1,000 streams of one task (QU-8): how long it takes from
// sending a change to the last of them having it, the memory of one, and what admissions
// to other tasks take beside them, as the ratio to a server without streams. The clients
// run on the same machine and take their share of it.
func BenchmarkEvents(b *testing.B) {
	eachNewURL(b, func(b *testing.B, newURL func(testing.TB) string) {
		tasks := 1 + otherPrompts*(shortTurns+1)
		quietURL, url := newURL(b), newURL(b)
		_ = seed(b, quietURL, tasks).Close()
		_ = seed(b, url, tasks).Close()
		server := process.Start(b, url)
		crowd := &listeners{}
		crowd.subscribe(b, server.URL, subscribers/10) // the first ones make the server itself larger
		before := residentBytes(b, server)
		crowd.subscribe(b, server.URL, subscribers*9/10)
		each := (residentBytes(b, server) - before) / (subscribers * 9 / 10)
		used := serverProcessorTime(b, server)
		times := crowd.follow(b, server, changes)
		used = (serverProcessorTime(b, server) - used) / changes
		quiet, busy := newAdmitter(b, quietURL, 1), &admitter{clients: []*wire{newWire(b, server.URL)}}
		var ratios []float64
		for round := range shortTurns + 1 {
			alone := quiet.admit(b, 1+otherPrompts*round, otherPrompts)
			beside := busy.admit(b, 1+otherPrompts*round, otherPrompts)
			if round > 0 { // which warms up
				ratios = append(ratios, beside.Seconds()/alone.Seconds())
			}
		}
		p50, p99 := times[len(times)/2], times[len(times)*99/100]
		figure(b, "QU-8", p99.Seconds()/lastWithin.Seconds(), "of %s, which the last of %d has to have a change: %s (p99), %s (p50), %s of the server's processor time",
			lastWithin, subscribers, p99.Round(time.Millisecond/10), p50.Round(time.Millisecond/10), used.Round(time.Millisecond/10))
		figure(b, "QU-8", float64(each)/memoryEach, "of %d KiB of memory for each: %d KiB", memoryEach>>10, each>>10)
		figure(b, "QU-8", median(ratios), "as long as without them take the admissions of others")
		b.ReportMetric(float64(p50.Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(each)/1024, "KiB/stream")
		b.ReportMetric(median(ratios), "admission-ratio")
		b.ReportMetric(0, "ns/op") // of a whole comparison: it says nothing
	})
}

// What QU-8 gives the last subscriber, and each of them.
const (
	lastWithin = 50 * time.Millisecond
	memoryEach = 32 << 10 // bytes
)

// BenchmarkDeafSubscriber measures the memory of a server while many changes happen to a
// task that a client follows which never reads (EV-5): between the first tenth of them,
// after which it has been cut off, and the end.
func BenchmarkDeafSubscriber(b *testing.B) {
	events := int(process.Number(b, "GATEHOUSE_TEST_EVENTS", 20_000))
	eachNewURL(b, func(b *testing.B, newURL func(testing.TB) string) {
		url := newURL(b)
		_ = seed(b, url, 1).Close()
		server := process.Start(b, url)
		deaf := dialEvents(b, server.URL)
		defer func() { _ = deaf.Close() }()
		var first int64
		for n := range events {
			if n == events/10 {
				first = residentBytes(b, server)
			}
			retitle(b, server, n)
		}
		growth := residentBytes(b, server) - first
		figure(b, "QU-8", float64(growth)/float64(first), "of the server's memory are added in the last nine tenths of %d events that a client does not read: %d KiB", events, growth>>10)
		b.ReportMetric(float64(growth)/1024, "KiB-growth")
		b.ReportMetric(0, "ns/op") // of a whole comparison: it says nothing
	})
}

// retitle changes task 0.
func retitle(b *testing.B, server *process.Server, n int) {
	b.Helper()
	server.Must(b, http.StatusOK, "PATCH", "/v1/tasks/"+id(taskPrefix, 0), map[string]any{"title": "title " + strconv.Itoa(n)})
}

// residentBytes is the memory of a server.
func residentBytes(b *testing.B, server *process.Server) int64 {
	b.Helper()
	answer, err := server.Send(b.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(answer.Body)) {
		if text, ok := strings.CutPrefix(line, "process_resident_memory_bytes "); ok {
			bytes, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				b.Fatal(err)
			}
			return int64(bytes)
		}
	}
	b.Fatalf("status %d, and no metric of memory", answer.Status)
	return 0
}

// listeners are clients that follow task 0. They are as light as can be.
type listeners struct {
	mu      sync.Mutex
	waiting int // who has not seen the awaited title yet
	title   []byte
	all     chan struct{}
}

// dialEvents opens a stream of task 0 on a connection of its own.
func dialEvents(b *testing.B, url string) net.Conn {
	b.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	_, err = fmt.Fprintf(c, "GET /v1/tasks/%s/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", id(taskPrefix, 0), process.AdminToken)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// subscribe opens n more streams, and returns when all of them are ready.
func (l *listeners) subscribe(b *testing.B, url string, n int) {
	b.Helper()
	done := l.await("event: ready", n)
	for range n {
		c := dialEvents(b, url)
		b.Cleanup(func() { _ = c.Close() })
		go l.read(c)
	}
	<-done
}

// await returns what is closed when n readers have seen a text.
func (l *listeners) await(text string, n int) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting, l.title, l.all = n, []byte(text), make(chan struct{})
	return l.all
}

// read notices awaited texts until the connection ends.
func (l *listeners) read(c io.Reader) {
	lines := bufio.NewReaderSize(c, 4<<10)
	var seen *byte
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // it is that very value
			return
		}
		l.mu.Lock()
		if &l.title[0] != seen && bytes.Contains(line, l.title) {
			seen = &l.title[0]
			if l.waiting--; l.waiting == 0 {
				close(l.all)
			}
		}
		l.mu.Unlock()
	}
}

// follow makes n changes, one after the other, and returns how long each took to reach
// the last reader, sorted.
func (l *listeners) follow(b *testing.B, server *process.Server, n int) []time.Duration {
	b.Helper()
	var times []time.Duration
	for i := range n {
		done := l.await(fmt.Sprintf(`"title":"title %d"`, i), subscribers)
		began := time.Now()
		retitle(b, server, i)
		select {
		case <-done:
		case <-time.After(time.Minute):
			b.Fatalf("change %d does not reach everybody", i)
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times
}
