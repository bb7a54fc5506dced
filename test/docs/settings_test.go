package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every setting stands in the table of docs/operations.md.
func TestSettingsAreDocumented(t *testing.T) {
	config := exec.CommandContext(t.Context(), filepath.Join(bin(t), "gatehouse"), "config")
	config.Dir = t.TempDir()
	out, err := config.Output()
	if err != nil {
		t.Fatal(err)
	}
	operations := read(t, "docs/operations.md")
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(out), -1) {
		if !strings.Contains(operations, "`"+m[1]+"`") {
			t.Errorf("docs/operations.md does not name %s", m[1])
		}
	}
}

// Every direct dependency has its reason in docs/dependencies.md.
func TestDependenciesAreExplained(t *testing.T) {
	reasons := read(t, "docs/dependencies.md")
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+/\S+) v\S+$`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		path := regexp.MustCompile(`/v\d+$`).ReplaceAllString(m[1], "")
		parts := strings.Split(path, "/")
		if !strings.Contains(reasons, path) && !strings.Contains(reasons, "/"+parts[len(parts)-1]) && !strings.Contains(reasons, parts[len(parts)-1]) {
			t.Errorf("docs/dependencies.md does not explain %s", m[1])
		}
	}
}
