package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/cmd/gatehouse/internal/config"
)

// lines is a standard error that a test reads line by line.
type lines struct{ c chan string }

func newLines() *lines { return &lines{make(chan string, 100)} }

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.c <- string(b)
	return len(b), nil
}

// url waits for the line that says where the server listens.
func (l *lines) url(t *testing.T) string {
	t.Helper()
	for {
		select {
		case line := <-l.c:
			if url, ok := strings.CutPrefix(line, "listening on "); ok {
				return strings.TrimSpace(url)
			}
		case <-t.Context().Done():
			t.Fatal("the server never listened")
		}
	}
}

// testApp is an app that answers with api and counts how it is ended.
type testApp struct {
	app
	ended, closed atomic.Int32
}

func newTestApp(api http.Handler) *testApp {
	a := &testApp{}
	a.app = app{
		api:      api,
		metrics:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") }),
		notReady: func() { a.ended.Add(1) },
		close:    func() error { a.closed.Add(1); return nil },
	}
	return a
}

func (a *testApp) build(context.Context, environment) (*app, error) { return &a.app, nil }

// start serves with build on a free port until the returned function ends it and
// gives the error of the server.
func start(t *testing.T, cfg config.Settings, stderr io.Writer, build assembler) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	p := &program{stdout: io.Discard, stderr: stderr, assemble: build}
	go func() { done <- p.serve(ctx, cfg, slog.New(slog.DiscardHandler)) }()
	return func() error { cancel(); return <-done }
}

func testSettings(t *testing.T) config.Settings {
	t.Helper()
	cfg := config.Defaults()
	cfg.Listen = "127.0.0.1:0"
	cfg.Database = "sqlite://" + filepath.Join(t.TempDir(), "gatehouse.db")
	return cfg
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestServeFinishesRunningRequests(t *testing.T) { // OP-10
	running, finish := make(chan struct{}), make(chan struct{})
	a := newTestApp(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(running)
		<-finish
		_, _ = io.WriteString(w, "done")
	}))
	a.notReady = func() { a.ended.Add(1); close(finish) } // the server says that it ends before it waits
	stderr := newLines()
	stop := start(t, testSettings(t), stderr, a.build)
	url := stderr.url(t)

	answer := make(chan string, 1)
	go func() {
		_, body := get(t, url)
		answer <- body
	}()
	<-running
	if err := stop(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if got := <-answer; got != "done" {
		t.Errorf("the running request got %q", got)
	}
	if a.ended.Load() != 1 || a.closed.Load() != 1 {
		t.Errorf("told %d times, closed %d times", a.ended.Load(), a.closed.Load())
	}
}

func TestServeCutsOffWhatTakesTooLong(t *testing.T) { // OP-10
	running, gone := make(chan struct{}), make(chan struct{})
	a := newTestApp(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(running)
		<-r.Context().Done()
		close(gone)
	}))
	cfg := testSettings(t)
	cfg.ShutdownTimeout = time.Millisecond
	stderr := newLines()
	stop := start(t, cfg, stderr, a.build)
	url := stderr.url(t)
	go func() {
		if res, err := http.Get(url); err == nil {
			res.Body.Close()
		}
	}()
	<-running
	if err := stop(); err != nil {
		t.Errorf("ended with %v", err)
	}
	<-gone
}

func TestServeAnswersWhileStarting(t *testing.T) { // OP-14
	a := newTestApp(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	cfg := testSettings(t)
	l, err := listen(t.Context(), "listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listen = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	building, built := make(chan struct{}), make(chan struct{})
	stderr := newLines()
	stop := start(t, cfg, stderr, func(context.Context, environment) (*app, error) {
		close(building)
		<-built
		return &a.app, nil
	})
	<-building
	url := "http://" + cfg.Listen
	if status, _ := get(t, url+"/livez"); status != http.StatusOK {
		t.Errorf("livez: %d", status)
	}
	if status, body := get(t, url+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, `"code":"unavailable"`) {
		t.Errorf("readyz: %d %s", status, body)
	}
	if err := checkHealth(t.Context(), cfg.Listen); err != nil {
		t.Errorf("health: %v", err)
	}
	close(built)
	stderr.url(t)
	if status, _ := get(t, url+"/readyz"); status != http.StatusTeapot {
		t.Errorf("the app was not asked: %d", status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := checkHealth(t.Context(), cfg.Listen); err == nil {
		t.Error("healthy after its end")
	}
}

func TestServeEndsWhileStarting(t *testing.T) { // OP-10
	building := make(chan struct{})
	stop := start(t, testSettings(t), io.Discard, func(ctx context.Context, _ environment) (*app, error) {
		close(building)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	<-building
	if err := stop(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestStageTellsAnAppThatComesTooLate(t *testing.T) { // OP-10
	var now stage
	a := newTestApp(nil)
	now.end()
	now.begin(&a.app)
	if a.ended.Load() != 1 {
		t.Errorf("told %d times", a.ended.Load())
	}
}

func TestServeCommand(t *testing.T) { // OP-2, OP-10
	ctx, cancel := context.WithCancel(t.Context())
	stderr, done := newLines(), make(chan int, 1)
	p := &program{stdout: io.Discard, stderr: stderr, assemble: newTestApp(http.NotFoundHandler()).build}
	database := "sqlite://" + filepath.Join(t.TempDir(), "gatehouse.db")
	go func() { done <- p.run(ctx, []string{"serve", "--listen=127.0.0.1:0", "--database=" + database}) }()
	if status, _ := get(t, stderr.url(t)); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
	cancel()
	if status := <-done; status != 0 {
		t.Errorf("exit status %d", status)
	}
}

func TestServeSaysWhereSwaggerIs(t *testing.T) { // OP-1
	stderr := newLines()
	stop := start(t, testSettings(t), stderr, newTestApp(http.NotFoundHandler()).build)
	hint := <-stderr.c
	if want := "Swagger UI is at " + stderr.url(t) + "/docs/\n"; hint != want {
		t.Errorf("%q, want %q", hint, want)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestServeFails(t *testing.T) {
	broken := errors.New("broken")
	stop := start(t, testSettings(t), io.Discard, func(context.Context, environment) (*app, error) { return nil, broken })
	if err := stop(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// An address that is taken is told with the setting that gives another.
func TestListenOnATakenAddress(t *testing.T) {
	taken, err := listen(t.Context(), "listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cfg := testSettings(t)
	cfg.MetricsListen = taken.Addr().String()
	if _, err := openEndpoints(t.Context(), cfg, new(stage)); err == nil || !strings.Contains(err.Error(), "address already in use") ||
		!strings.HasSuffix(err.Error(), "with --metrics-listen") {
		t.Errorf("got %v", err)
	}
}

func TestMetricsListener(t *testing.T) { // OP-8
	cfg := testSettings(t)
	cfg.MetricsListen = "127.0.0.1:0"
	var now stage
	endpoints, err := openEndpoints(t.Context(), cfg, &now)
	if err != nil {
		t.Fatal(err)
	}
	now.begin(&newTestApp(http.NotFoundHandler()).app)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serveHTTP(ctx, slog.New(slog.DiscardHandler), endpoints, timeoutsOf(cfg), now.end) }()
	if _, body := get(t, "http://"+endpoints[1].Addr().String()); body != "metrics" {
		t.Errorf("got %q", body)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSecondServerOnOneFileIsRefused(t *testing.T) { // OP-14
	cfg := testSettings(t)
	stderr := newLines()
	first := start(t, cfg, stderr, newTestApp(http.NotFoundHandler()).build)
	stderr.url(t)
	file, _ := cfg.SQLiteFile()
	if err := start(t, cfg, io.Discard, newTestApp(nil).build)(); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("the second got %v", err)
	}
	if err := first(); err != nil {
		t.Error(err)
	}
	third := start(t, cfg, stderr, newTestApp(http.NotFoundHandler()).build)
	stderr.url(t)
	if err := third(); err != nil {
		t.Errorf("the third got %v", err)
	}
	if _, err := os.Stat(file + ".lock"); err != nil {
		t.Error(err)
	}
}
