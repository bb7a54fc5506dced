package docs_test

import (
	"net"
	"os"
	"os/exec"
	"regexp"
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
	var script strings.Builder
	script.WriteString("set -eu\nSERVER=\ntrap 'test -z \"$SERVER\" || kill $SERVER' EXIT\n")
	for _, m := range block.FindAllStringSubmatch(read(t, "README.md"), -1) {
		script.WriteString(m[1])
	}
	script.WriteString("SERVER=\n") // the last block ended it
	shell := exec.CommandContext(t.Context(), name, "-c", strings.ReplaceAll(script.String(), "127.0.0.1:8080", freeAddress(t)))
	shell.Dir = checkout
	shell.Env = append(withoutSettings(), "TMPDIR="+t.TempDir())
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := strings.ReplaceAll(string(out), `\u003e`, ">")
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
