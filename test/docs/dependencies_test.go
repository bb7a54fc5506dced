package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/dependencies.md explains every direct dependency of go.mod, and no other.
func TestDependenciesAreExplained(t *testing.T) {
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
	var want []string
	for _, m := range direct.FindAllStringSubmatch(read(t, "go.mod"), -1) {
		want = append(want, m[1])
	}
	_, tables, _ := strings.Cut(read(t, "docs/dependencies.md"), "## In the binary")
	tables, _, _ = strings.Cut(tables, "## Tools")
	var got []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(tables, -1) {
		for name := range strings.SplitSeq(row[1], "<br>") {
			if strings.Contains(name, "/") {
				got = append(got, name)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/dependencies.md (+) is not go.mod (-):\n%s", diff)
	}
}
