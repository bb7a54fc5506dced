// Package docs_test holds the documents against the program: what they tell people
// to do is done, and what they list is compared.
package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gatehouse/test/process"
)

const root = "../.."

// checkout is the repository as far as the documents see it: with the programs
// built into bin/, and with testdata/.
var checkout string

func TestMain(m *testing.M) {
	status := 1
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = process.Main(m)
	}
	_ = os.RemoveAll(checkout)
	os.Exit(status)
}

func prepare() (err error) {
	if checkout, err = os.MkdirTemp("", "gatehouse-docs-"); err != nil {
		return err
	}
	testdata, err := filepath.Abs(filepath.Join(root, "testdata"))
	if err != nil {
		return err
	}
	if err := os.Symlink(testdata, filepath.Join(checkout, "testdata")); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(checkout, "bin")+string(filepath.Separator), "./cmd/...")
	build.Dir, build.Stderr = root, os.Stderr
	return build.Run()
}

// program is one of those that were built.
func program(name string) string { return filepath.Join(checkout, "bin", name) }

// read is a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
