package docs_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var typescript = regexp.MustCompile("(?s)```ts\n(.*?)```")

// The client of docs/events.md and its use are files of the repository, which test/events
// runs and make lint checks.
func TestClientOfEventsIsShown(t *testing.T) {
	var shown []string
	for _, m := range typescript.FindAllStringSubmatch(read(t, "docs/events.md"), -1) {
		shown = append(shown, m[1])
	}
	want := []string{read(t, "docs/examples/events/usage.ts"), read(t, "docs/examples/events/gatehouse-events.ts")}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("docs/events.md (+) does not show the files (-):\n%s", diff)
	}
}
