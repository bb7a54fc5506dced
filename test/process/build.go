package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// built holds the folder of the program once it is built.
var built struct {
	once   sync.Once
	folder string
	err    error
}

// Main runs the tests of a suite and removes the program they built. It returns the
// exit status.
func Main(m *testing.M) int {
	defer func() {
		if built.folder != "" {
			_ = os.RemoveAll(built.folder)
		}
	}()
	return m.Run()
}

// Binary is the path of the program.
func Binary(tb testing.TB) string {
	tb.Helper()
	built.once.Do(func() { built.folder, built.err = build(tb.Context()) })
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return filepath.Join(built.folder, "gatehouse")
}

func build(ctx context.Context) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "gatehouse-suite"); err != nil {
		return "", err
	}
	args := slices.Concat([]string{"build", "-o", folder}, raceFlags, []string{"gatehouse/cmd/gatehouse"})
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput() //nolint:gosec // the arguments are ours
	if err != nil {
		return folder, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return folder, nil
}
