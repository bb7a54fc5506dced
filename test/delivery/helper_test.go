package delivery_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// Which of the processes of this suite a process is.
const (
	roleVariable = "GATEHOUSE_TEST_ROLE"
	roleAgent    = "agent"
	roleRunner   = "runner"
)

// helper is a process of this suite that talks in lines of JSON: it says things on
// its standard output and reads orders on its standard input. It ends when that does.
type helper struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// startHelper starts one in a role, with variables of its own. It is killed when the
// test ends.
func startHelper(t *testing.T, role string, variables ...string) *helper {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), roleVariable+"="+role), variables...)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &helper{cmd, in, bufio.NewScanner(out)}
	t.Cleanup(func() {
		h.kill()
		_ = cmd.Wait()
	})
	return h
}

// kill ends the process at once. What it has said can still be heard.
func (h *helper) kill() { _ = h.cmd.Process.Kill() }

// hear reads what the process says next, and reports false when it has ended.
func (h *helper) hear(v any) bool {
	return h.out.Scan() && json.Unmarshal(h.out.Bytes(), v) == nil
}

// tell gives the process an order. One that has ended does not hear it.
func (h *helper) tell(v any) { _ = json.NewEncoder(h.in).Encode(v) }
