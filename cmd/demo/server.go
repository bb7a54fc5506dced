package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"gatehouse/gen/client"
)

// server is the program as a child process.
type server struct {
	*client.ClientWithResponses
	binary, database string
	url, token       string
	process          *exec.Cmd
}

// startServer starts the program on a free port and waits until it listens. It does
// not end with ctx: stop ends it.
func startServer(ctx context.Context, binary, database string) (*server, error) {
	s := &server{binary: binary, database: "sqlite://" + database, token: rand.Text() + rand.Text()}
	s.process = exec.CommandContext(context.WithoutCancel(ctx), binary, "serve", "--listen=127.0.0.1:0", "--log-level=error")
	s.process.Env = s.environ()
	stderr, err := s.process.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("start the server (make build makes %s): %w", binary, err)
	}
	lines := bufio.NewScanner(stderr)
	for s.url == "" && lines.Scan() {
		s.url, _ = strings.CutPrefix(lines.Text(), "listening on ")
		if !strings.HasPrefix(s.url, "http://") {
			fmt.Fprintln(os.Stderr, lines.Text())
			s.url = ""
		}
	}
	if s.url == "" {
		return nil, errors.Join(errors.New("the server ended before it listened"), s.process.Wait())
	}
	go func() {
		for lines.Scan() {
			fmt.Fprintln(os.Stderr, lines.Text())
		}
	}()
	s.ClientWithResponses, err = client.NewClientWithResponses(s.url, client.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+s.token)
			return nil
		}))
	return s, err
}

// environ is the environment of every run of the program, without settings of others.
func (s *server) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GATEHOUSE_") {
			env = append(env, kv)
		}
	}
	return append(env, "GATEHOUSE_DATABASE="+s.database, "GATEHOUSE_ADMIN_TOKEN="+s.token)
}

// stop ends the server as an operator does, and waits for it.
func (s *server) stop() error {
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := s.process.Wait(); err != nil {
		return fmt.Errorf("the server did not end well: %w", err)
	}
	return nil
}
