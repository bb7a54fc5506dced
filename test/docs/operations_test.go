package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// The table of docs/operations.md is that of the program, with the same defaults.
func TestSettingsAreDocumented(t *testing.T) { // OP-2
	config := exec.CommandContext(t.Context(), program("gatehouse"), "config")
	config.Dir, config.Env = t.TempDir(), withoutSettings()
	out, err := config.Output()
	if err != nil {
		t.Fatal(err)
	}
	var settings map[string]any
	if err := yaml.Unmarshal(out, &settings); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name, value := range settings {
		want[name] = cell(value)
	}
	got := map[string]string{}
	_, table, _ := strings.Cut(read(t, "docs/operations.md"), "## Settings")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|([^|]*)\\|").FindAllStringSubmatch(table, -1) {
		got[m[1]] = strings.TrimSpace(m[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/operations.md (+) is not what gatehouse config (-) says:\n%s", diff)
	}
}

// cell is a default as the table has it.
func cell(value any) string {
	var texts []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			texts = append(texts, cell(item))
		}
	case string:
		if v != "" {
			texts = append(texts, "`"+v+"`")
		}
	default:
		texts = append(texts, fmt.Sprintf("`%v`", v))
	}
	return strings.Join(texts, ", ")
}

// Every metric that the sources name stands in docs/operations.md, and no other.
func TestMetricsAreDocumented(t *testing.T) { // OP-8
	want := map[string]bool{}
	for _, folder := range []string{"db", "handlers", "cmd/gatehouse"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`Name:\s+"(gatehouse_[a-z_]+)"`).FindAllSubmatch(source, -1) {
				want[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]bool{}
	for _, m := range regexp.MustCompile("`(gatehouse_[a-z_]+)`").FindAllStringSubmatch(read(t, "docs/operations.md"), -1) {
		got[m[1]] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/operations.md (+) has other metrics than the sources (-):\n%s", diff)
	}
}
