package dbtest

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

const holdVar = "GATEHOUSE_TEST_HOLD"

// TestServerEndsWithItsLastUser kills a process that uses a server of its own: the
// server is gone soon after, and its databases with the next start.
func TestServerEndsWithItsLastUser(t *testing.T) {
	if os.Getenv(holdVar) != "" {
		hold(t)
		return
	}
	if os.Getenv("GATEHOUSE_TEST_POSTGRES") != "" {
		return // nothing is started then
	}
	tmp := t.TempDir()
	if err := os.Chmod(filepath.Dir(tmp), 0o755); err != nil { // the server may be another user
		t.Fatal(err)
	}
	dir := filepath.Join(tmp, filepath.Base(folder()))
	for range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServerEndsWithItsLastUser$")
		cmd.Env = append(os.Environ(), holdVar+"=1", folderVar+"="+tmp)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if line != "holding\n" {
			t.Fatalf("read %q (%v)", line, err)
		}
		if !answers(adminURL(dir)) {
			t.Error("the server is not there")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		for deadline := time.Now().Add(20 * time.Second); answers(adminURL(dir)); {
			if time.Now().After(deadline) {
				t.Fatal("the server outlived its users")
			}
		}
	}
}

// hold uses the server until it is killed.
func hold(t *testing.T) {
	PostgresURL(t)
	fmt.Println("holding") //nolint:forbidigo // the parent reads it
	select {}
}

func TestEveryDatabaseIsItsOwn(t *testing.T) {
	EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		a, b := newURL(t), newURL(t)
		if a == b {
			t.Errorf("%s was given twice", a)
		}
		if _, err := url.Parse(a); err != nil {
			t.Error(err)
		}
	})
}
