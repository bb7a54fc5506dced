package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// AdminToken is the first admin token of every server that [Start] starts on an
// empty database.
const AdminToken = "admin-token-of-the-process-suites"

// startWithin bounds the wait for a server to be ready, which may hang.
const startWithin = time.Minute

// Server is a running "gatehouse serve".
type Server struct {
	*Client
	cmd    *exec.Cmd
	stderr lockedBuffer
	ready  chan string   // where it listens, once it does
	exited chan struct{} // closed when the process has ended and was waited for
}

// Start starts a server on a database and a free port, and returns when it is ready.
// The process is killed when the test ends, unless it ended before.
func Start(tb testing.TB, database string, args ...string) *Server {
	tb.Helper()
	s, err := TryStart(tb, database, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TryStart is [Start] for a server that may refuse to start. The error holds what it
// said.
func TryStart(tb testing.TB, database string, args ...string) (*Server, error) {
	tb.Helper()
	s := Launch(tb, database, args...)
	select {
	case url := <-s.ready:
		s.Client = NewClient(url, AdminToken)
		tb.Cleanup(s.Close)
		return s, nil
	case <-s.exited:
		return nil, fmt.Errorf("the server ended: %s", s.Stderr())
	case <-time.After(startWithin):
		return nil, fmt.Errorf("the server did not get ready: %s", s.Stderr())
	}
}

// Launch starts a server and does not wait. It has no client.
func Launch(tb testing.TB, database string, args ...string) *Server {
	tb.Helper()
	// The process outlives cancelled contexts: the test decides how it ends.
	cmd := exec.Command(Binary(tb), append([]string{"serve", "--listen=127.0.0.1:0", "--log-format=json", "--log-level=warn"}, args...)...) //nolint:gosec,noctx // the program this package built
	cmd.Env = append(environ(), "GATEHOUSE_DATABASE="+database, "GATEHOUSE_ADMIN_TOKEN="+AdminToken)
	out, err := cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	s := &Server{cmd: cmd, ready: make(chan string, 1), exited: make(chan struct{})}
	go s.follow(out)
	tb.Cleanup(func() {
		s.Kill()
		if tb.Failed() {
			tb.Logf("the server said:\n%s", s.Stderr())
		}
	})
	return s
}

// environ is the environment without settings of the program.
func environ() []string {
	var kept []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GATEHOUSE_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

// follow keeps what the server says, tells where it listens, and waits for its end.
func (s *Server) follow(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			s.ready <- url
		}
		s.stderr.WriteLine(lines.Text())
	}
	_, _ = io.Copy(io.Discard, out) // a line that was too long stops the scanner, not the server
	_ = s.cmd.Wait()
	close(s.exited)
}

// Stderr is what the server has said so far.
func (s *Server) Stderr() string { return s.stderr.String() }

// PID is the number of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Kill ends the process at once, as kill -9 does, and waits for its end.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.exited
}

// Signal sends the process a signal.
func (s *Server) Signal(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Fatal(err)
	}
}

// Wait waits for the end of the process and returns how it ended.
func (s *Server) Wait() *os.ProcessState {
	<-s.exited
	return s.cmd.ProcessState
}

// Stop tells the server to end and fails the test when it does not end well.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	s.Signal(tb, syscall.SIGTERM)
	if code := s.Wait().ExitCode(); code != 0 {
		tb.Errorf("the server ended with %d:\n%s", code, s.Stderr())
	}
}

// lockedBuffer is a text that one goroutine writes and others read.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// WriteLine adds a line.
func (b *lockedBuffer) WriteLine(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.WriteString(line)
	b.text.WriteByte('\n')
}

// String is the text so far.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
