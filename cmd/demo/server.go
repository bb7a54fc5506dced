package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"gatehouse/gen/client"
)

// server is the program as a child process, with a folder of its own.
type server struct {
	*client.ClientWithResponses
	binary, dir string
	url, token  string
	process     *exec.Cmd
	ended       chan error
}

// startServer starts the program on a free port and waits until it is ready. It does
// not end with ctx: stop ends it. Its folder stays.
func startServer(ctx context.Context, binary string) (*server, error) {
	dir, err := os.MkdirTemp("", "gatehouse-demo-")
	if err != nil {
		return nil, err
	}
	s := &server{binary: binary, dir: dir, token: rand.Text() + rand.Text(), ended: make(chan error, 1)}
	log, err := os.Create(s.logFile())
	if err != nil {
		return nil, err
	}
	ready := &announcement{log: log, url: make(chan string, 1)}
	s.process = exec.CommandContext(context.WithoutCancel(ctx), binary, "serve", "--listen=127.0.0.1:0")
	s.process.Env = s.environ()
	s.process.Stderr = ready
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start the server (make build makes it): %w", errors.Join(err, log.Close(), os.RemoveAll(dir)))
	}
	go func() { s.ended <- errors.Join(s.process.Wait(), log.Close()) }()
	select {
	case s.url = <-ready.url:
	case err := <-s.ended:
		return nil, fmt.Errorf("the server ended before it listened, see %s: %w", s.logFile(), err)
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), s.stop())
	}
	s.ClientWithResponses, err = client.NewClientWithResponses(s.url, client.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+s.token)
			return nil
		}))
	return s, err
}

func (s *server) logFile() string  { return filepath.Join(s.dir, "server.log") }
func (s *server) database() string { return "sqlite://" + filepath.Join(s.dir, "gatehouse.db") }

// environ is the environment of every run of the program, without settings of others.
func (s *server) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GATEHOUSE_") {
			env = append(env, kv)
		}
	}
	return append(env, "GATEHOUSE_DATABASE="+s.database(), "GATEHOUSE_ADMIN_TOKEN="+s.token)
}

// stop ends the server as an operator does, and waits for it.
func (s *server) stop() error {
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := <-s.ended; err != nil {
		return fmt.Errorf("the server did not end well, see %s: %w", s.logFile(), err)
	}
	return nil
}

// announcement keeps what the server writes in its log, and tells the address in it.
type announcement struct {
	log  *os.File
	seen strings.Builder // until the address is known
	told bool
	url  chan string
}

// Write implements io.Writer.
func (a *announcement) Write(b []byte) (int, error) {
	if !a.told {
		a.seen.Write(b)
		_, after, _ := strings.Cut(a.seen.String(), "listening on ")
		if url, _, whole := strings.Cut(after, "\n"); whole {
			a.told = true
			a.url <- url
		}
	}
	return a.log.Write(b)
}
