package dbtest

import (
	"crypto/rand"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// Durable is a PostgreSQL server of its own with the settings of production: what it
// has committed survives a power cut. It is for measurements; tests share the one
// that keeps nothing.
type Durable struct {
	admin string
}

// DurablePostgres starts one, which ends with the test.
func DurablePostgres(tb testing.TB) *Durable {
	tb.Helper()
	bin, err := binaries()
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "gatehouse-durable") // a short path: the socket is below it
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &server{dir: dir, bin: bin, data: dir + "/data", cred: credential(), durable: true, log: tb.Output()}
	for _, path := range []string{dir, socketFolder(dir)} {
		if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // the server is another user
			tb.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the server is another user
		tb.Fatal(err)
	}
	if err := s.init(); err != nil {
		tb.Fatal(err)
	}
	started, stop, stopped := make(chan error), make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread() // see tied: the server ends with this thread
		var process *exec.Cmd
		process, err := s.start()
		if started <- err; err == nil {
			<-stop
			stopped <- s.stop(process)
		}
	}()
	if err := <-started; err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		close(stop)
		if err := <-stopped; err != nil {
			tb.Error(err)
		}
	})
	return &Durable{adminURL(dir)}
}

// NewURL is the URL of an empty migrated database on the server.
func (d *Durable) NewURL(tb testing.TB) string {
	tb.Helper()
	name := testPrefix + strings.ToLower(rand.Text())
	(&postgres{admin: d.admin}).run(tb, "CREATE DATABASE "+name)
	url := withDatabase(d.admin, name)
	if err := migrate(tb.Context(), url); err != nil {
		tb.Fatal(err)
	}
	return url
}
