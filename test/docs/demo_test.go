package docs_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// demo is a run of the program demo, as make demo starts it.
func demo(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), program("demo"), args...)
	command.Dir = checkout
	command.Env = append(withoutSettings(), "TMPDIR="+t.TempDir())
	return command
}

// The demo gives what it must, and fails by itself when a step does not.
func TestDemo(t *testing.T) {
	t.Run("shows", func(t *testing.T) {
		out, err := demo(t).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, want := range []string{
			"| > Ten would hammer a server that is down.\n",
			"as a replay",
			"plan_comments_changed",
			"general-purpose: Round 2: carol comparison\n",
			"its 6 subagents made 14 changes",
			"/docs/\n",
		} {
			if !strings.Contains(string(out), want) {
				t.Errorf("it does not show %q:\n%s", want, out)
			}
		}
		if bytes.ContainsRune(out, '\x1b') {
			t.Errorf("it colours what is no terminal:\n%s", out)
		}
	})
	t.Run("fails", func(t *testing.T) {
		out, err := demo(t, "-transcript", "testdata/transcripts/claude-code/inline-sidechain").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "want no change of its own, and 14 changes") {
			t.Errorf("another transcript is as good: %v\n%s", err, out)
		}
	})
}
