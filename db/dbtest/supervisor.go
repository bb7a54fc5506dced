package dbtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/jackc/pgx/v5"
)

// A process that was started as the supervisor never gets to its tests.
func init() { //nolint:gochecknoinits // there is no other way into a test binary without a TestMain
	dir := os.Getenv(superviseVar)
	if dir == "" {
		return
	}
	syscall.CloseOnExec(3) // the server would keep it open
	report := os.NewFile(3, "report")
	if err := supervise(dir, os.Getenv("GATEHOUSE_TEST_BIN"), report); err != nil {
		_, _ = fmt.Fprintln(report, err)
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// supervise runs the server in dir until nobody uses it.
func supervise(dir, bin string, report io.WriteCloser) error {
	runtime.LockOSThread() // see tied: the server ends with this thread
	s := &server{dir: dir, bin: bin, data: filepath.Join(dir, "data"), cred: credential(), log: os.Stderr}
	if err := s.stopOrphan(); err != nil {
		return err
	}
	if err := s.init(); err != nil {
		return err
	}
	process, err := s.start()
	if err != nil {
		return err
	}
	if err := dropLeftovers(adminURL(dir)); err != nil {
		return errors.Join(err, s.stop(process))
	}
	if _, err := io.WriteString(report, answerReady); err != nil {
		return errors.Join(err, s.stop(process))
	}
	if err := report.Close(); err != nil {
		return errors.Join(err, s.stop(process))
	}
	// Whoever comes while the server stops waits for this lock.
	users := flock.New(usersFile(dir))
	err = users.Lock()
	return errors.Join(err, s.stop(process))
}

// server is a PostgreSQL server without TCP. Unless it is durable it keeps nothing.
type server struct {
	dir, bin, data string
	cred           *syscall.Credential // nil: as this user
	durable        bool
	log            io.Writer // what the programs say
}

// everyServer and fleeting are settings of PostgreSQL.
var (
	everyServer = []string{
		"listen_addresses=", "unix_socket_permissions=0777", "max_connections=400", "log_min_messages=error",
	}
	fleeting = []string{
		"shared_buffers=64MB", "fsync=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0", "autovacuum=off",
		"min_wal_size=32MB", "max_wal_size=256MB", // it may be in memory
	}
)

// command runs one of the server's programs, as the user that owns the data.
func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), filepath.Join(s.bin, name), args...) //nolint:gosec // a folder this package found
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	cmd.Stdout, cmd.Stderr = s.log, s.log
	cmd.SysProcAttr = tied(s.cred)
	return cmd
}

// init creates the data once. The mark says that it was finished.
func (s *server) init() error {
	mark := filepath.Join(s.dir, "initialised")
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	if err := os.RemoveAll(s.data); err != nil {
		return err
	}
	if err := os.Mkdir(s.data, 0o700); err != nil {
		return err
	}
	if s.cred != nil {
		for _, path := range []string{s.data, socketFolder(s.dir)} {
			if err := os.Chown(path, int(s.cred.Uid), int(s.cred.Gid)); err != nil {
				return err
			}
		}
	}
	err := s.command("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale",
		"--pgdata="+s.data).Run()
	if err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	return os.WriteFile(mark, nil, 0o600)
}

func (s *server) start() (*exec.Cmd, error) {
	args := []string{"-D", s.data, "-k", socketFolder(s.dir)}
	settings := everyServer
	if !s.durable {
		settings = slices.Concat(settings, fleeting)
	}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	cmd := s.command("postgres", args...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for range 300 {
		if answers(adminURL(s.dir)) {
			return cmd, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the server does not answer"), s.stop(cmd))
}

// stop ends the server without a checkpoint, but in order.
func (s *server) stop(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	return cmd.Wait()
}

// stopOrphan ends a server whose supervisor died, where the system did not.
func (s *server) stopOrphan() error {
	if _, err := os.Stat(filepath.Join(s.data, "postmaster.pid")); err != nil {
		return nil //nolint:nilerr // there is none
	}
	if !answers(adminURL(s.dir)) {
		return nil
	}
	return s.command("pg_ctl", "stop", "-D", s.data, "-m", "immediate").Run()
}

// dropLeftovers drops the databases of tests that were killed, and the templates
// of other schemas. Nobody uses the server yet.
func dropLeftovers(admin string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	rows, err := c.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, $1) OR starts_with(datname, $2) AND datname <> $3",
		testPrefix, templatePrefix, templatePrefix+migrationHash())
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := c.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return nil
}

// credential is who runs the server: it refuses to run as root.
func credential() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if uerr == nil && gerr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return nil
}
