package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db/dbtest"
)

const importSamples = "../../testdata/transcripts/claude-code"

// imported is the summary as scripts read it (HI-33).
type imported struct {
	Files       int            `json:"files"`
	Tasks       int            `json:"tasks"`
	Sessions    int            `json:"sessions"`
	Messages    int            `json:"messages"`
	FileChanges int            `json:"file_changes"`
	Executions  int            `json:"executions"`
	Subagents   int            `json:"subagents"`
	Skipped     map[string]int `json:"skipped"`
	Problems    []struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Reason string `json:"reason"`
	} `json:"problems"`
	Added map[string]int `json:"added"`
}

func readImported(t *testing.T, out string) (got imported) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return got
}

// sampleTotals is what the samples hold in all.
func sampleTotals(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(importSamples, "..", "totals.json"))
	if err != nil {
		t.Fatal(err)
	}
	var samples map[string]struct {
		Holds map[string]int `json:"holds"`
	}
	if err := json.Unmarshal(text, &samples); err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, s := range samples {
		for what, n := range s.Holds {
			all[what] += n
		}
	}
	return all
}

func TestImport(t *testing.T) { // HI-30, HI-33
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		t.Helper()
		environ := []string{"GATEHOUSE_DATABASE=" + newURL(t)}
		status, out, errs := runProgram(t, environ, "import", "claude-code", "--json", importSamples)
		if status != 0 || strings.Count(errs, ".jsonl: ") != 5 || !strings.Contains(errs, "the admin token is gate_") {
			t.Fatalf("%d %s", status, errs)
		}
		got := readImported(t, out)
		want := sampleTotals(t)
		if diff := cmp.Diff(want, got.Added); diff != "" || got.Messages != want["messages"] || len(got.Problems) > 0 || got.Skipped == nil {
			t.Errorf("%s\nadded (-want +got):\n%s", out, diff)
		}
		status, out, errs = runProgram(t, environ, "import", "claude-code", importSamples)
		if status != 0 || !strings.Contains(out, fmt.Sprint(want["messages"], " messages")) || !strings.Contains(out, "added  nothing") || strings.Contains(errs, "token") {
			t.Errorf("second time: %d %q %q", status, out, errs)
		}
	})
}

func TestImportOfBadLines(t *testing.T) { // HI-31
	folder := t.TempDir()
	good, err := os.ReadFile(filepath.Join(importSamples, "inline-sidechain", "task_non_sdk.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	bad := append([]byte("no JSON\n{}\n"), good...)
	bad = append(bad, `{"type":"user","mess`...)
	path := filepath.Join(folder, "bad.jsonl")
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"GATEHOUSE_DATABASE=sqlite://" + filepath.Join(folder, "gatehouse.db")}
	status, out, errs := runProgram(t, environ, "import", "claude-code", "--json", folder)
	if status != 0 {
		t.Fatalf("%d %s", status, errs)
	}
	got := readImported(t, out)
	want := map[string]int{"malformed_json": 1, "unknown_type": 1, "torn_line": 1}
	if diff := cmp.Diff(want, got.Skipped); diff != "" || got.Added["messages"] != 10 {
		t.Errorf("%s\nskipped (-want +got):\n%s", out, diff)
	}
	if len(got.Problems) != 3 || got.Problems[0].File != path || got.Problems[0].Line != 1 || got.Problems[0].Reason != "malformed_json" {
		t.Errorf("problems %+v", got.Problems)
	}
	status, out, _ = runProgram(t, environ, "import", "claude-code", folder)
	if status != 0 || !strings.Contains(out, path+":1: no JSON\n") {
		t.Errorf("%d %s", status, out)
	}
}

// Whatever a file is, it stops none of the others; what is wrong with it is named, and
// no failure as long as the system lets it be read (HI-31).
func TestImportOfOddFiles(t *testing.T) {
	session, err := os.ReadFile(filepath.Join(importSamples, "inline-sidechain", "task_non_sdk.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	line := func(n int) string { return string(bytes.SplitAfter(session, []byte("\n"))[n]) }
	for name, c := range map[string]struct {
		text     string
		messages int
		problems []string // as line:reason
	}{
		"empty":                {"", 0, []string{"0:no_conversation"}},
		"binary junk":          {"\x00\xff\xfe\n\x7fELF", 0, []string{"1:invalid_utf8", "1:malformed_json", "2:malformed_json", "0:no_conversation"}},
		"no final newline":     {strings.TrimSuffix(string(session), "\n"), 10, nil},
		"carriage returns":     {strings.ReplaceAll(string(session), "\n", "\r\n"), 10, nil},
		"byte order mark":      {"\uFEFF" + string(session), 10, nil},
		"two on a line":        {strings.Replace(string(session), "\n", "", 1), 10, nil},
		"a line over a MiB":    {string(session) + `{"type":"system","content":"` + strings.Repeat("x", 1<<20) + `"}`, 10, nil},
		"torn in the middle":   {line(0) + line(1)[:50] + "\n" + string(session), 10, []string{"2:torn_line"}},
		"of no known sort":     {`{"type":"telepathy"}` + "\n" + string(session), 10, []string{"1:unknown_type"}},
		"nothing but a number": {"7", 0, []string{"1:not_an_object", "0:no_conversation"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			odd, good := filepath.Join(folder, "a.jsonl"), filepath.Join(folder, "b")
			if err := os.CopyFS(good, os.DirFS(filepath.Join(importSamples, "src-experiments-claude_p"))); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(odd, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(folder, "folder.jsonl"), 0o700); err != nil {
				t.Fatal(err)
			}
			status, out, errs := runProgram(t, []string{"GATEHOUSE_DATABASE=" + dbtest.SQLiteURL(t)}, "import", "claude-code", "--json", folder)
			if status != 0 {
				t.Fatalf("%d %s", status, errs)
			}
			got := readImported(t, out)
			var problems []string
			for _, p := range got.Problems {
				if problems = append(problems, fmt.Sprintf("%d:%s", p.Line, p.Reason)); p.File != odd {
					t.Errorf("%s has a problem", p.File)
				}
			}
			if diff := cmp.Diff(c.problems, problems); diff != "" || got.Added["messages"] != 39+c.messages {
				t.Errorf("added %v, problems (-want +got):\n%s", got.Added, diff)
			}
		})
	}
}

// An import that found nothing does not say that all of it was here.
func TestImportOfSomethingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "else.jsonl")
	if err := os.WriteFile(path, []byte(`{"jsonrpc":"2.0"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errs := runProgram(t, []string{"GATEHOUSE_DATABASE=" + dbtest.SQLiteURL(t)}, "import", "claude-code", path)
	if status != 0 || !strings.Contains(out, "added  nothing: no conversation of Claude Code was found\n") {
		t.Errorf("%d %q %q", status, out, errs)
	}
}

func TestImportThatIsNotComplete(t *testing.T) { // HI-31
	environ := []string{"GATEHOUSE_DATABASE=sqlite://" + filepath.Join(t.TempDir(), "gatehouse.db")}
	for _, c := range []struct {
		args  []string
		wants string
	}{
		{[]string{"--workspace=other", importSamples}, "workspace create"},
		{[]string{filepath.Join(t.TempDir(), "nothing")}, "nothing"},
		{nil, "requires at least 1 arg"},
	} {
		status, out, errs := runProgram(t, environ, append([]string{"import", "claude-code"}, c.args...)...)
		if status != 1 || out != "" || !strings.Contains(errs, c.wants) {
			t.Errorf("%v: %d %q %q", c.args, status, out, errs)
		}
	}
	path := filepath.Join(importSamples, "inline-sidechain")
	if status, _, errs := runProgram(t, environ, "import", "claude-code", path); status != 0 {
		t.Fatal(errs)
	}
	if status, _, errs := runProgram(t, environ, "workspace", "create", "other"); status != 0 {
		t.Fatal(errs)
	}
	status, out, errs := runProgram(t, environ, "import", "claude-code", "--json", "--workspace=other", importSamples)
	got := readImported(t, out)
	if status != 1 || !strings.Contains(errs, "not everything went in") || got.Skipped["other_workspace"] != 1 || got.Added["tasks"] != 4 {
		t.Errorf("%d %s %s", status, out, errs)
	}
}

func TestImportIsInterrupted(t *testing.T) { // HI-30
	ctx, cancel := context.WithCancel(t.Context())
	environ := []string{"GATEHOUSE_DATABASE=" + dbtest.SQLiteURL(t)}
	var out, errs strings.Builder
	p := &program{stdout: &out, stderr: writeFunc(func(b []byte) { // behind the first file
		errs.Write(b)
		if strings.Contains(string(b), ".jsonl: ") {
			cancel()
		}
	}), environ: environ}
	if status := p.run(ctx, []string{"import", "claude-code", "--json", importSamples}); status != 1 || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("%d %s", status, errs.String())
	}
	if got := readImported(t, out.String()); got.Added["tasks"] != 1 {
		t.Errorf("added %v", got.Added)
	}
	status, rest, _ := runProgram(t, environ, "import", "claude-code", "--json", importSamples)
	if got := readImported(t, rest); status != 0 || got.Added["tasks"] != 4 {
		t.Errorf("%d %s", status, rest)
	}
}

// writeFunc is a writer.
type writeFunc func(b []byte)

// Write implements io.Writer.
func (f writeFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

// The program itself imports beside a server on the same file (OP-14).
func TestImportBesideAServer(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "gatehouse")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	token := strings.Repeat("s3cret", 6)
	environ := []string{
		"GATEHOUSE_DATABASE=sqlite://" + filepath.Join(t.TempDir(), "gatehouse.db"),
		"GATEHOUSE_ADMIN_TOKEN=" + token, "GATEHOUSE_LISTEN=127.0.0.1:0",
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server, errs := &program{stderr: newLines(), environ: environ, assemble: assemble}, make(chan int, 1)
	go func() { errs <- server.run(ctx, []string{"serve"}) }()
	url := server.stderr.(*lines).url(t)

	run := exec.CommandContext(t.Context(), binary, "import", "claude-code", "--json", importSamples)
	run.Env = append(os.Environ(), environ...)
	out, err := run.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	if got := readImported(t, string(out)); err != nil || got.Added["tasks"] != 5 {
		t.Errorf("%v: %s", err, out)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/sessions/ef958aa1-0e93-49f0-bb71-150f63befcd1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var s struct {
		State          string `json:"state"`
		LastMessageSeq int    `json:"last_message_seq"`
	}
	if err := json.NewDecoder(res.Body).Decode(&s); err != nil || res.StatusCode != http.StatusOK || s.State != "waiting_for_input" {
		t.Errorf("%d %+v %v", res.StatusCode, s, err)
	}
	if cancel(); <-errs != 0 {
		t.Error("the server failed")
	}
}
