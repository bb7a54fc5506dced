package events_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"gatehouse/test/process"
)

// report is what the client tells of one change, or of its end.
type report struct {
	Change struct {
		Name string `json:"name"`
		Data any    `json:"data"`
	} `json:"change"`
	State map[string]any `json:"state"`
	Ended *ending        `json:"ended"`
}

// ending is what the client ended with.
type ending struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Status  int    `json:"status"`
	Code    string `json:"code"`
}

// follower is the client, in Node or in a page. Its own server is the origin of the
// page, and takes the reports.
type follower struct {
	*httptest.Server
	root string // of this repository

	mu      sync.Mutex
	page    string // what the page is to do
	reports []report
	stop    bool // answer the next report with an end
}

// newFollower makes a client that does not run yet.
func newFollower(t *testing.T) *follower {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{root: root}
	files := http.NewServeMux()
	files.Handle("GET /", http.FileServer(http.Dir(root)))
	files.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, f.page)
	})
	files.HandleFunc("POST /report", func(w http.ResponseWriter, r *http.Request) {
		var told report
		if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
			w.WriteHeader(http.StatusBadRequest) // cut off by the end of the test
			return
		}
		f.take(told, w)
	})
	f.Server = httptest.NewServer(files)
	t.Cleanup(f.Close)
	return f
}

func (f *follower) take(told report, w io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reports = append(f.reports, told)
	if f.stop {
		_, _ = io.WriteString(w, "stop")
	}
}

// told are the reports so far.
func (f *follower) told() []report {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.reports)
}

// end has the client ended at its next report.
func (f *follower) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop = true
}

// last is the latest report.
func (f *follower) last() report {
	if all := f.told(); len(all) > 0 {
		return all[len(all)-1]
	}
	return report{}
}

// settings are what the client is started with, as JSON.
func (f *follower) settings(t *testing.T, base, url, task string, options map[string]any) string {
	t.Helper()
	all := map[string]any{"url": url, "task": task, "token": process.AdminToken, "delay": map[string]any{"first": 5, "most": 50}}
	maps.Copy(all, options)
	text, err := json.Marshal(map[string]any{
		"client": base + "/docs/examples/events/dist/gatehouse-events.js", "to": f.URL + "/report", "options": all,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inNode starts the client in Node.
func (f *follower) inNode(t *testing.T, url, task string, options map[string]any) {
	t.Helper()
	script := fmt.Sprintf("import { report } from %q; await report(%s)",
		filepath.Join(f.root, "test/events/testdata/follower.js"), f.settings(t, f.root, url, task, options))
	start(t, exec.Command("node", "--input-type=module", "--eval", script))
}

// inChromium starts the client in a page.
func (f *follower) inChromium(t *testing.T, url, task string, options map[string]any) {
	t.Helper()
	f.mu.Lock()
	f.page = fmt.Sprintf(`<!doctype html><title>Follows a task</title>
<script type="importmap">{"imports": {"eventsource-parser": "/docs/examples/events/node_modules/eventsource-parser/dist/index.js"}}</script>
<script type="module">import { report } from "/test/events/testdata/follower.js"; await report(%s)</script>`,
		f.settings(t, "", url, task, options))
	f.mu.Unlock()
	profile, err := os.MkdirTemp("", "gatehouse-chromium-") //nolint:usetesting // what cannot be removed fails no test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) }) // one of its processes may still be going
	flags := []string{
		"--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-dev-shm-usage", "--user-data-dir=" + profile, "--remote-debugging-port=0", "--enable-logging=stderr",
	}
	if os.Geteuid() == 0 {
		flags = append(flags, "--no-sandbox") // without which it does not run as root
	}
	start(t, exec.Command(browser, append(flags, f.URL+"/page")...))
}

// start starts a program, and ends it and all that it has started with the test.
func start(t *testing.T, program *exec.Cmd) {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	program.Stdout, program.Stderr = said, said
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-program.Process.Pid, syscall.SIGKILL)
		_ = program.Wait()
		_ = said.Close()
		if t.Failed() {
			text, _ := os.ReadFile(said.Name())
			t.Logf("%s said:\n%s", program.Path, text)
		}
	})
}
