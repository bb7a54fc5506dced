package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
	"gatehouse/domain/access"
	"gatehouse/domain/event"
	"gatehouse/domain/history"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// doctored runs the doctor, which must end with a status and say every text.
func doctored(t *testing.T, environ []string, status int, texts ...string) string {
	t.Helper()
	got, out, errs := runProgram(t, environ, "doctor")
	if got != status || (status == 1) != strings.Contains(errs, "something needs attention") || (status == 1) != strings.Contains(out, "BAD") {
		t.Errorf("status %d, want %d: %q %q", got, status, out, errs)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%q lacks %q", out, text)
		}
	}
	return out
}

func TestDoctor(t *testing.T) { // OP-7
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		t.Helper()
		url := newURL(t)
		environ := []string{"GATEHOUSE_DATABASE=" + url}
		doctored(t, environ, 1, "ok   schema", "BAD  subagent contexts: not activated")
		if status, _, errs := runProgram(t, environ, "migrate", "up"); status != 0 {
			t.Fatal(errs)
		}
		out := doctored(t, environ, 0, "ok   configuration", "ok   database", "ok   schema", "ok   recovery", "ok   subagent contexts: none is missing since 2")
		if strings.Count(out, "\n") != 5 {
			t.Errorf("%q", out)
		}

		s := dbtest.Open(t, db.Options{URL: url})
		w := newPatient(t, s)
		w.missAFrame(t)
		doctored(t, environ, 1, "ok   recovery", "BAD  subagent contexts: 1 invocation that messages tell of since 2")
	})
}

// patient is a session that ails.
type patient struct {
	store      *db.Store
	announce   *event.Announcer
	task, main string
}

func newPatient(t *testing.T, s *db.Store) *patient {
	t.Helper()
	w := &patient{store: s, announce: event.NewAnnouncer(nil, slog.New(slog.DiscardHandler))}
	a := access.NewService(s.Access(), domain.SystemClock)
	if _, err := a.Bootstrap(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	workspace, err := a.WorkspaceNamed(t.Context(), access.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := task.NewService(s.Tasks(), domain.SystemClock, w.announce).Create(t.Context(), task.New{WorkspaceID: workspace.ID, Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	main, _, err := session.NewService(s.Sessions(), domain.SystemClock, w.announce).Create(t.Context(), session.New{TaskID: made.ID, Kind: session.KindMain})
	if err != nil {
		t.Fatal(err)
	}
	w.task, w.main = made.ID, main.ID
	return w
}

// missAFrame stores the message of an invocation without a recorder.
func (w *patient) missAFrame(t *testing.T) {
	t.Helper()
	frame := `{"frame":"tool_call","tool_call_id":"c","normalized":{"kind":"subagent_task","subagent_task":{}}}`
	service := history.NewService(w.store.History(), domain.SystemClock, w.announce, subagent.DefaultDelegationTools)
	if _, err := service.AppendFrames(t.Context(), w.task, w.main, []json.RawMessage{json.RawMessage(frame)}); err != nil {
		t.Fatal(err)
	}
}

func TestDoctorFindsOverdueDeliveries(t *testing.T) { // OP-7, DL-3
	url := dbtest.SQLiteURL(t)
	past := func() time.Time { return time.Now().Add(-2 * time.Hour).UTC().Truncate(time.Microsecond) }
	s := dbtest.Open(t, db.Options{URL: url, Clock: past})
	s.Activate(t.Context())
	service := prompt.NewService(prompt.Config{Store: s.Prompts(), Now: past, Announce: event.NewAnnouncer(nil, slog.New(slog.DiscardHandler))})
	for _, attempted := range []bool{false, true, true} {
		w := newPatient(t, s)
		if _, err := service.AdmitPrompt(t.Context(), prompt.Request{TaskID: w.task, SessionID: w.main, ClientID: "m", Content: "go"}); err != nil {
			t.Fatal(err)
		}
		r, err := service.Reserve(t.Context(), w.task, w.main, nil)
		if err != nil || r == nil {
			t.Fatal(r, err)
		}
		if attempted {
			if _, err := service.Attempt(t.Context(), w.task, r.Delivery.ID, r.Token); err != nil {
				t.Fatal(err)
			}
		}
	}
	environ := []string{"GATEHOUSE_DATABASE=" + url}
	doctored(t, environ, 1, "BAD  recovery: 1 reservation past the lease and 2 attempts without", "ok   subagent contexts")
	doctored(t, append(environ, "GATEHOUSE_ACKNOWLEDGE_TIMEOUT=3h"), 1, "BAD  recovery: 1 reservation past the lease and 0 attempts without")
}

// What cannot be looked at is said, and what needs it is left out.
func TestDoctorThatCannotLook(t *testing.T) { // OP-7
	folder := t.TempDir()
	none := "GATEHOUSE_DATABASE=sqlite://" + filepath.Join(folder, "none.db")
	out := doctored(t, []string{none}, 1, "ok   configuration", "BAD  database: ", "there is no database")
	if strings.Count(out, "\n") != 2 {
		t.Errorf("%q", out)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("made %v, %v", entries, err)
	}
	doctored(t, []string{"GATEHOUSE_QUEUE_CAPACITY=none"}, 1, "BAD  configuration: ", "queue-capacity")

	if err := os.WriteFile(filepath.Join(folder, "empty.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := "GATEHOUSE_DATABASE=sqlite://" + filepath.Join(folder, "empty.db")
	doctored(t, []string{empty}, 1, "BAD  schema: ", "run gatehouse migrate up")

	const password = "correct-horse-battery"
	gone := "GATEHOUSE_DATABASE=postgres://gatehouse:" + password + "@127.0.0.1:1/gatehouse?connect_timeout=2"
	if out := doctored(t, []string{gone}, 1, "BAD  database: "); strings.Contains(out, password) {
		t.Error("it shows the password")
	}
}

// The program itself looks beside a server on the same file, and leaves no trace (OP-14).
func TestDoctorBesideAServer(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "gatehouse")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	folder := t.TempDir()
	environ := []string{
		"GATEHOUSE_DATABASE=sqlite://" + filepath.Join(folder, "gatehouse.db"),
		"GATEHOUSE_ADMIN_TOKEN=" + strings.Repeat("s3cret", 6), "GATEHOUSE_LISTEN=127.0.0.1:0",
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server, ended := &program{stderr: newLines(), environ: environ, assemble: assemble}, make(chan int, 1)
	go func() { ended <- server.run(ctx, []string{"serve"}) }()
	server.stderr.(*lines).url(t)

	for _, when := range []string{"beside a server", "behind it"} {
		before := contents(t, folder)
		run := exec.CommandContext(t.Context(), binary, "doctor")
		run.Env = append(os.Environ(), environ...)
		out, err := run.CombinedOutput()
		if err != nil || strings.Contains(string(out), "BAD") {
			t.Errorf("%s: %v: %s", when, err, out)
		}
		if diff := cmp.Diff(before, contents(t, folder)); diff != "" {
			t.Errorf("%s: files changed (-before +after):\n%s", when, diff)
		}
		if when == "beside a server" {
			if cancel(); <-ended != 0 {
				t.Error("the server failed")
			}
		}
	}
}

// contents are the files of a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		files[e.Name()] = string(readFile(t, filepath.Join(folder, e.Name())))
	}
	return files
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
