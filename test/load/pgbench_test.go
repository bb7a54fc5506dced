package load_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// How a script of pgbench writes the ids of the task :n.
var (
	taskVar    = newVar("8001")
	sessionVar = newVar("8002")
	planVar    = newVar("8003")
)

func newVar(kind string) string { return "('00000000-0000-7000-" + kind + "-' || :n)" }

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

var argument = regexp.MustCompile(`\$\d+`)

// pgbenchScript is the admission of the next task of a client, of which each has
// perClient from number first on.
func pgbenchScript(first, perClient int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\\set i :i + 1\n\\set n %d + :client_id * %d + :i\nBEGIN;\n", firstNumber+first-1, perClient)
	for _, s := range admission() {
		text := argument.ReplaceAllStringFunc(s.sql, func(name string) string {
			n, _ := strconv.Atoi(name[1:])
			return s.pgbench[n-1]
		})
		b.WriteString(strings.ReplaceAll(text, lock, " FOR NO KEY UPDATE") + ";\n")
	}
	b.WriteString("COMMIT;\n")
	return b.String()
}

var tps = regexp.MustCompile(`tps = ([0-9.]+) \(without initial connection time\)`)

// runPgbench admits perClient prompts with each of so many clients, and returns how
// long that took, connecting aside.
func runPgbench(b *testing.B, url string, clients, first, perClient int) time.Duration {
	b.Helper()
	script := filepath.Join(b.TempDir(), "admission.sql")
	if err := os.WriteFile(script, []byte(pgbenchScript(first, perClient)), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), "pgbench", "-n", "-M", "prepared", "-D", "i=0",
		"-c", strconv.Itoa(clients), "-j", "2", "-t", strconv.Itoa(perClient), "-f", script, url)
	out, err := cmd.CombinedOutput()
	m := tps.FindSubmatch(out)
	if err != nil || m == nil || !strings.Contains(string(out), fmt.Sprintf("processed: %d/%d\n", clients*perClient, clients*perClient)) {
		b.Fatalf("pgbench: %v\n%s", err, out)
	}
	perSecond, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(float64(clients*perClient) / perSecond * float64(time.Second))
}
