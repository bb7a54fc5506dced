// Package events_test holds the client of docs/events.md against servers: real
// processes whose streams are cut and which are killed under it, on both databases,
// and a server that sends and refuses whatever the test likes. The client runs in
// Node, and in a page of Chromium that comes from another origin than the API.
package events_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gatehouse/test/process"
)

// example is the folder of the client, as compiled JavaScript in dist/.
const example = "../../docs/examples/events"

func TestMain(m *testing.M) {
	if err := cmp.Or(compile(), findBrowser()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(process.Main(m))
}

// compile compiles the client the way its readers do.
func compile() error {
	if _, err := exec.LookPath("node"); err != nil {
		return fmt.Errorf("node, 20 or newer, is needed: %w", err)
	}
	compiler := filepath.Join("node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(filepath.Join(example, compiler)); err != nil {
		return fmt.Errorf("make deps fetches the compiler of TypeScript: %w", err)
	}
	tsc := exec.Command("node", compiler)
	tsc.Dir = example
	if out, err := tsc.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the client: %w\n%s", err, out)
	}
	return nil
}

// browser is the path of Chromium.
var browser string

func findBrowser() (err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if browser, err = exec.LookPath(name); err == nil {
			return nil
		}
	}
	return errors.New("no Chromium: install it, on Debian by apt-get install chromium")
}

// eventually waits for what must happen and may hang.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !happened(); time.Sleep(5 * time.Millisecond) {
		if t.Failed() || time.Now().After(deadline) {
			t.Fatalf("it does not happen: %s", what)
		}
	}
}
