package events_test

import (
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// proxy stands between a client and the servers, and cuts streams of events.
type proxy struct {
	*httptest.Server

	mu      sync.Mutex
	random  *rand.Rand
	target  *url.URL
	longest int        // bytes of a stream until it is cut at the latest; 0: it is not
	since   []string   // the Last-Event-ID of each stream, "" for none
	passed  []*passing // the streams
}

// newProxy makes one that does not cut.
func newProxy(t *testing.T, target string, seed uint64) *proxy {
	t.Helper()
	p := &proxy{random: rand.New(rand.NewPCG(seed, seed))}
	p.use(t, target)
	p.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			r.SetURL(p.target)
		},
		FlushInterval:  -1,
		ModifyResponse: p.pass,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:       log.New(io.Discard, "", 0),
	})
	t.Cleanup(p.Close)
	return p
}

// use sends the requests to come to another server, and ends the streams of this one.
func (p *proxy) use(t *testing.T, target string) {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.target = to
	p.mu.Unlock()
	if p.Server != nil {
		p.CloseClientConnections()
	}
}

// cut has the streams to come cut after at most so many bytes, 0 for never, and ends
// those of this moment.
func (p *proxy) cut(longest int) {
	p.mu.Lock()
	p.longest = longest
	p.mu.Unlock()
	p.CloseClientConnections()
}

// pass watches and cuts a stream.
func (p *proxy) pass(response *http.Response) error {
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	stream := &passing{ReadCloser: response.Body, left: -1}
	if p.longest > 0 {
		stream.left = p.random.IntN(p.longest)
	}
	response.Body = stream
	p.since = append(p.since, response.Request.Header.Get("Last-Event-ID"))
	p.passed = append(p.passed, stream)
	return nil
}

// passing is a stream that passes through.
type passing struct {
	io.ReadCloser

	mu   sync.Mutex
	left int // bytes, negative when it is not to be cut
	text strings.Builder
}

// Read implements io.Reader.
func (p *passing) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if p.left > 0 {
		b = b[:min(p.left, len(b))]
	}
	n, err := p.ReadCloser.Read(b)
	p.left -= max(0, min(n, p.left))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(b[:n])
	return n, err
}

var idField = regexp.MustCompile(`(?m)^id: (\d+)$`)

// ids are those of the events that passed as a whole.
func (p *passing) ids() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.text.String()
	for _, m := range idField.FindAllStringSubmatch(text[:strings.LastIndex(text, "\n\n")+1], -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// judge: the client comes back with what it was sent, never behind it, and once it has
// an id never without (EV-1).
func (p *proxy) judge(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := map[string]int{} // by id, the place in the order in which they were sent
	resumed, at := 0, 0
	for i, since := range p.since {
		switch place, ok := sent[since]; {
		case since == "" && resumed > 0:
			t.Errorf("stream %d begins anew", i)
		case since == "":
		case !ok || place < at:
			t.Errorf("stream %d goes on after %s, which is not the last id", i, since)
		default:
			resumed, at = resumed+1, place
		}
		for _, id := range p.passed[i].ids() {
			if _, ok := sent[id]; !ok {
				sent[id] = len(sent) + 1
			}
		}
	}
	t.Logf("%d streams, %d of them resumed", len(p.since), resumed)
	if resumed < 4 {
		t.Errorf("%d of %d streams went on where another ended", resumed, len(p.since))
	}
}
