// Package docs_test runs what the documents tell people to do.
package docs_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// bin builds the programs of the project and returns the folder they are in.
func bin(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir+"/", "./cmd/...")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return dir
}

var block = regexp.MustCompile("(?s)```sh\n(.*?)```")

// The quick start works as it stands, block after block in one shell; only the
// port is another one.
func TestQuickStart(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -euo pipefail\ntrap 'kill %1; wait' EXIT\n")
	for _, m := range block.FindAllStringSubmatch(string(readme), -1) {
		script.WriteString(m[1])
	}
	transcripts, err := filepath.Abs(filepath.Join(root, "testdata/transcripts/claude-code/experiments-worktrees"))
	if err != nil {
		t.Fatal(err)
	}
	shell := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(script.String(), "127.0.0.1:8080", freeAddress(t)))
	shell.Dir = t.TempDir()
	shell.Env = append(os.Environ(), "PATH="+bin(t)+":"+os.Getenv("PATH"), "TRANSCRIPTS="+transcripts)
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`"replayed":true`,
		`> Three times, with a growing pause.\n\n---\n\nPlease revise the plan.`,
		`"state":"acknowledged"`,
		`"path_key":"plan.md"`,
		`"source_type":"SUBAGENT"`,
	} {
		if !strings.Contains(strings.ReplaceAll(string(out), `\u003e`, ">"), want) {
			t.Errorf("the quick start does not show %s:\n%s", want, out)
		}
	}
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

// The demo gives what it must; it fails by itself when a step does not.
func TestDemo(t *testing.T) {
	dir := bin(t)
	demo := exec.CommandContext(t.Context(), filepath.Join(dir, "demo"), "-gatehouse", filepath.Join(dir, "gatehouse"))
	demo.Dir = root
	demo.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	if out, err := demo.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
