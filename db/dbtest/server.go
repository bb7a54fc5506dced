package dbtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/jackc/pgx/v5"
)

// One server serves all test processes of a user. Each holds a shared lock on a
// file for as long as it lives; the system takes it away when a process dies. A
// supervisor, which is a test binary started once more, is the parent of the
// server: it waits for the exclusive lock on that file, which it gets when the
// last process is gone, and stops the server. The data stays for the next run.

// superviseVar makes a test binary the supervisor of the folder it names.
const superviseVar = "GATEHOUSE_TEST_SUPERVISE"

// generation tells servers apart whose test processes agree on other things than
// those of this source. Raise it with a change of locks, settings or supervisor.
const generation = 3

// startWithin bounds every wait for another process, which may be stuck.
const startWithin = time.Minute

// folderVar names the folder of the servers, instead of the one that is fastest.
const folderVar = "GATEHOUSE_TEST_FOLDER"

// memoryNeeded is what has to be free where files are in memory: the databases of the
// tests that run at a time have some ten megabytes each, see also fleeting.
const memoryNeeded = 2 << 30

// folder is where a user's server lives. Most of what a database costs there is its
// three hundred files, which are made and deleted ten times as fast in memory. The path
// is short, since the name of a socket has about a hundred characters.
func folder() string {
	base := os.TempDir()
	if named := os.Getenv(folderVar); named != "" {
		base = named
	} else if hasRoom(memoryFolder, memoryNeeded) {
		base = memoryFolder
	}
	return filepath.Join(base, fmt.Sprintf("gatehouse-pg%d-%d", generation, os.Getuid()))
}

func socketFolder(dir string) string { return filepath.Join(dir, "s") }
func usersFile(dir string) string    { return filepath.Join(dir, "users.lock") }
func logFile(dir string) string      { return filepath.Join(dir, "log") }

// adminURL is the maintenance database of the server in dir.
func adminURL(dir string) string {
	return "postgres:///postgres?user=postgres&host=" + url.QueryEscape(socketFolder(dir))
}

// joinServer makes this process a user of the server, which it starts if nobody
// has, and returns its URL. It is a user for as long as the lock stays open.
func joinServer() (admin string, user *flock.Flock, err error) {
	bin, err := binaries()
	if err != nil {
		return "", nil, err
	}
	dir := folder()
	if err := os.MkdirAll(socketFolder(dir), 0o755); err != nil { //nolint:gosec // the server is another user
		return "", nil, err
	}
	// While a supervisor stops its server, this waits.
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	users := flock.New(usersFile(dir))
	if _, err := users.TryRLockContext(ctx, lockPoll); err != nil {
		return "", nil, fmt.Errorf("wait for the last server in %s to stop: %w", dir, err)
	}
	start := flock.New(filepath.Join(dir, "start.lock"))
	if _, err := start.TryLockContext(ctx, lockPoll); err != nil {
		return "", nil, fmt.Errorf("wait for another process to start the server in %s: %w", dir, err)
	}
	defer func() { _ = start.Unlock() }()
	if answers(adminURL(dir)) {
		return adminURL(dir), users, nil
	}
	return adminURL(dir), users, startSupervisor(dir, bin)
}

const lockPoll = 10 * time.Millisecond

func answers(admin string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, admin)
	if err != nil {
		return false
	}
	return c.Close(ctx) == nil
}

// binaries is the folder of the server's programs.
func binaries() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if target, err := filepath.EvalSymlinks(initdb); err == nil && hasPrograms(filepath.Dir(target)) {
			return filepath.Dir(target), nil
		}
	}
	if out, err := exec.CommandContext(context.Background(), "pg_config", "--bindir").Output(); err == nil {
		if dir := strings.TrimSpace(string(out)); hasPrograms(dir) {
			return dir, nil
		}
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for _, dir := range slices.Backward(dirs) {
		if hasPrograms(dir) {
			return dir, nil
		}
	}
	return "", errors.New("no PostgreSQL server found: install one (apt-get install postgresql, brew install postgresql), put initdb on the PATH, or set GATEHOUSE_TEST_POSTGRES to the URL of a running one")
}

func hasPrograms(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// startSupervisor starts it, and waits until its server answers.
func startSupervisor(dir, bin string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(logFile(dir), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	ready, report, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = ready.Close() }()
	// It outlives this process, and shares none of its files but the log and
	// the pipe: go test waits for whoever holds its output.
	cmd := exec.CommandContext(context.Background(), self) //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), superviseVar+"="+dir, "GATEHOUSE_TEST_BIN="+bin)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{report}
	detach(cmd)
	err = cmd.Start()
	_ = report.Close()
	if err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	// An empty answer is an end of file: the supervisor died.
	_ = ready.SetReadDeadline(time.Now().Add(startWithin))
	answer, err := bufio.NewReader(ready).ReadString('\n')
	if answer != answerReady {
		return fmt.Errorf("start PostgreSQL: %s (%w; see %s)", strings.TrimSpace(answer), err, logFile(dir))
	}
	return nil
}

// answerReady is what the supervisor reports, or else what went wrong.
const answerReady = "ready\n"
