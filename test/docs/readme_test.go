package docs_test

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var block = regexp.MustCompile("(?s)```sh\n(.*?)```")

// The quick start works as it stands, block after block in one shell, whichever that
// is; only the port is another one.
func TestQuickStart(t *testing.T) {
	for _, name := range []string{"bash", "sh"} {
		t.Run(name, func(t *testing.T) { quickStart(t, name) })
	}
}

func quickStart(t *testing.T, name string) {
	t.Helper()
	out := run(t, name, blocks(t, "README.md"))
	text := strings.ReplaceAll(out, `\u003e`, ">")
	for _, want := range []string{
		`"replayed":true`,
		`> Three times, with a growing pause.\n\n---\n\nPlease revise the plan.`,
		`"state":"acknowledged"`,
		`"path_key":"plan.md"`,
		`"code":"plan_comments_changed"`,
		" (refused)\n",
		"14 file changes\n",
		`"sources":[{`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the quick start does not show %s:\n%s", want, out)
		}
	}
	if n := strings.Count(text, `"source_agent_type":"general-purpose"`+"\n"); n != 14 {
		t.Errorf("the quick start shows %d changes of subagents, not 14:\n%s", n, out)
	}
}

// What docs/subagents.md shows works on the server of the quick start.
func TestSubagents(t *testing.T) {
	start := blocks(t, "README.md")
	script := slices.Concat(start[:3], blocks(t, "docs/subagents.md"), start[len(start)-1:])
	out := run(t, "bash", script)
	for _, want := range []string{
		`"source_type":"SUBAGENT"`, `"path_key":"upload.go"`, `"subagents":1`, `"reason":"unknown_frame"`, `"total_tokens":12000`,
		`"duration_ms":{"reported":0,"sum":null}`, `"shortfall":0`, "ok   subagent contexts",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not show %s:\n%s", want, out)
		}
	}
}

// What docs/history.md shows works on the server of the quick start, and a single
// change has the text that the lists left out (HI-24).
func TestHistory(t *testing.T) {
	start := blocks(t, "README.md")
	script := slices.Concat(start[:3], blocks(t, "docs/history.md"), start[len(start)-1:])
	out := run(t, "bash", script)
	for _, want := range []string{
		`"primary_session_id":"ef958aa1-0e93-49f0-bb71-150f63befcd1","title":"OK`, `"first_seq":`, `"next_before":`,
		`"path_key":".claude/worktrees/`, `"sources":[{`, `"diff_omitted":false`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not show %s:\n%s", want, out)
		}
	}
}

// blocks are the shell blocks of a document.
func blocks(t *testing.T, document string) (found []string) {
	t.Helper()
	for _, m := range block.FindAllStringSubmatch(read(t, document), -1) {
		found = append(found, m[1])
	}
	return found
}

// run runs blocks, of which the last one ends the server, and returns what they print.
func run(t *testing.T, shell string, blocks []string) string {
	t.Helper()
	script := "set -eu\nSERVER=\ntrap 'test -z \"$SERVER\" || kill $SERVER' EXIT\n" + strings.Join(blocks, "") + "SERVER=\n"
	c := exec.CommandContext(t.Context(), shell, "-c", strings.ReplaceAll(script, "127.0.0.1:8080", freeAddress(t)))
	c.Dir = checkout
	c.Env = append(withoutSettings(), "TMPDIR="+t.TempDir())
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// withoutSettings is the environment without what would set up the program.
func withoutSettings() (env []string) {
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GATEHOUSE_") {
			env = append(env, kv)
		}
	}
	return env
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

var (
	failure = regexp.MustCompile(`(?m)^\| [45]\d\d[^|]*\|`)
	quoted  = regexp.MustCompile("`([a-z_]+)`")
)

// Every code of a failure that the README explains is one that the contract has.
func TestFailuresAreThoseOfTheContract(t *testing.T) {
	contract := read(t, "openapi.yaml")
	rows := failure.FindAllString(read(t, "README.md"), -1)
	if len(rows) == 0 {
		t.Fatal("the README explains no failure")
	}
	for _, row := range rows {
		for _, m := range quoted.FindAllStringSubmatch(row, -1) {
			if !regexp.MustCompile(`(?m)(- |[\[ ])` + m[1] + `($|,|\])`).MatchString(contract) {
				t.Errorf("the contract has no %s", m[1])
			}
		}
	}
}
