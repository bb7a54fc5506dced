package docs_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db/dbtest"
	"gatehouse/test/process"
)

// The runners of docs/delivery.md are files of the repository.
func TestRunnersAreShown(t *testing.T) {
	page := read(t, "docs/delivery.md")
	for fence, file := range map[string]string{"go": "docs/examples/runner-go/main.go", "ts": "docs/examples/runner.mts"} {
		_, rest, _ := strings.Cut(page, "```"+fence+"\n")
		shown, _, _ := strings.Cut(rest, "```\n")
		if diff := cmp.Diff(read(t, file), shown); diff != "" {
			t.Errorf("docs/delivery.md (+) does not show %s (-):\n%s", file, diff)
		}
	}
}

// The runners of docs/delivery.md deliver what is queued, each prompt once (DL-2,
// DL-4): over the restart of the server, and when they lose a lease.
func TestRunnersDeliver(t *testing.T) {
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		runner := filepath.Join(t.TempDir(), "runner")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", runner, "./docs/examples/runner-go")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		record := filepath.Join(t.TempDir(), "record")
		// What it reads and the end of the line are one write.
		agent := exec.CommandContext(t.Context(), runner, "sh", "-c", `text=$(cat); echo "$text" >> "$0"`, record)
		deliverAll(t, agent, "", func() []string {
			text, err := os.ReadFile(record)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
		})
	})
	t.Run("typescript", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		var given []string
		agent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if given = append(given, string(text)); string(text) == hangUp {
				panic(http.ErrAbortHandler)
			}
		}))
		t.Cleanup(agent.Close)
		runner := exec.CommandContext(t.Context(), "node", javaScript(t, "docs/examples/runner.mts"))
		runner.Env = []string{"AGENT_URL=" + agent.URL}
		deliverAll(t, runner, hangUp, func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(given)
		})
	})
}

// hangUp is a prompt at which an agent that speaks HTTP hangs up.
const hangUp = "do 2"

// deliverAll starts a runner on a queue. Preparing takes it longer than its lease, so
// that it has to renew it. Once the server is killed and replaced, and once the runner
// is stopped for longer than its lease. Of one prompt the runner cannot tell whether
// the agent took it.
func deliverAll(t *testing.T, runner *exec.Cmd, unknown string, given func() []string) {
	t.Helper()
	url, listen := dbtest.SQLiteURL(t), "--listen="+freeAddress(t)
	server := process.Start(t, url, listen)
	scene := server.NewScene(t)
	prepared := filepath.Join(t.TempDir(), "prepared")
	runner.Env = append(append(withoutSettings(), runner.Env...), "GATEHOUSE_URL="+server.URL, "GATEHOUSE_TOKEN="+process.AdminToken,
		"GATEHOUSE_SESSION="+scene.Session, "LEASE_SECONDS=1", "PREPARE=echo >> '"+prepared+"'; sleep 1.2")
	runner.Stdout, runner.Stderr = t.Output(), t.Output()
	runner.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with what prepares
	want := queue(t, scene, 0, 2)
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-runner.Process.Pid, syscall.SIGKILL)
		_ = runner.Wait()
	})

	eventually(t, func() bool { return len(given()) == 1 })
	server.Kill()
	server = process.Start(t, url, listen)
	scene.Client = server.Client
	want = append(want, queue(t, scene, 2, 4)...)
	eventually(t, func() bool { return settled(t, scene) == 2 })

	eventually(t, func() bool { return attempts(t, prepared) >= 3 })
	stop(t, runner)
	eventually(t, func() bool { return settled(t, scene) == 4 })
	if n := attempts(t, prepared); n < 5 {
		t.Errorf("%d reservations: none was lost", n)
	}
	if diff := cmp.Diff(want, given()); diff != "" {
		t.Errorf("prompts (-queued +given)\n%s", diff)
	}
	wantRows(t, scene, want)
	for _, d := range scene.Must(t, 200, "GET", scene.TaskPath("/deliveries"), nil).Items("items") {
		if (d.Text("state") == "outcome_unknown") != (d.Text("content") == unknown) {
			t.Errorf("delivery %v", d)
		}
	}
}

// queue queues prompts with the numbers from first up to last.
func queue(t *testing.T, s *process.Scene, first, last int) (texts []string) {
	t.Helper()
	for n := first; n < last; n++ {
		texts = append(texts, fmt.Sprintf("do %d", n))
		s.Must(t, 201, "POST", s.TaskPath("/sessions/"+s.Session+"/queue"),
			map[string]any{"client_queue_id": fmt.Sprintf("q%d", n), "content": texts[len(texts)-1]})
	}
	return texts
}

// settled counts the prompts of which it is said what became of them, and which are
// over.
func settled(t *testing.T, s *process.Scene) (n int) {
	t.Helper()
	if s.Must(t, 200, "GET", s.SessionPath(""), nil).Text("state") == "running" {
		return -1
	}
	for _, d := range s.Must(t, 200, "GET", s.TaskPath("/deliveries"), nil).Items("items") {
		switch d.Text("state") {
		case "acknowledged", "outcome_unknown":
			n++
		}
	}
	return n
}

// attempts is how often a runner began to prepare.
func attempts(t *testing.T, prepared string) int {
	t.Helper()
	text, err := os.ReadFile(prepared)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// stop stops a runner and what it has started for longer than its lease.
func stop(t *testing.T, runner *exec.Cmd) {
	t.Helper()
	if err := syscall.Kill(-runner.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1200 * time.Millisecond)
	if err := syscall.Kill(-runner.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(20 * time.Millisecond) {
		if t.Failed() || time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// wantRows: one row of the transcript for each prompt, and every turn has ended.
func wantRows(t *testing.T, s *process.Scene, want []string) {
	t.Helper()
	var rows []string
	for _, m := range s.Must(t, 200, "GET", s.SessionPath("/messages"), nil).Items("messages") {
		rows = append(rows, m.Text("content"))
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("transcript (-queued +got)\n%s", diff)
	}
	for _, turn := range s.Must(t, 200, "GET", s.SessionPath("/turns"), nil).Items("items") {
		if turn.Text("state") == "running" {
			t.Errorf("turn %v", turn)
		}
	}
}

// types are the few annotations that the example has. They stand for themselves, so
// that taking them out leaves the program.
var types = regexp.MustCompile(`(?m)^type .*;$|: (?:string|object)\b|: Promise<Answer>| as string`)

// javaScript is a file in TypeScript as Node can run it: itself, or, for a Node that
// does not know types yet, another one without them.
func javaScript(t *testing.T, file string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "node", "--print", "process.features.typescript ?? ''").Output()
	if err != nil {
		t.Fatalf("node, 20 or newer, is needed: %v", err)
	}
	path, err := filepath.Abs(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(out)) == "strip" {
		return path
	}
	plain := filepath.Join(t.TempDir(), "runner.mjs")
	if err := os.WriteFile(plain, types.ReplaceAll([]byte(read(t, file)), nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return plain
}
