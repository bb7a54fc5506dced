package history

import (
	"encoding/json"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/domain"
)

// What a call was normalized to is never longer or shorter than it is counted, and the
// frames that were merged into it stay as they came: the transaction may run again.
func TestNormalizedIsCounted(t *testing.T) {
	scalar := rapid.SampledFrom([]any{nil, "", "a", "\n", json.Number("1"), json.Number("-0.5"), true, []any{}, map[string]any{"x": "y"}})
	name := rapid.SampledFrom([]string{"kind", "subagent_task", "a", "é", ""})
	members := rapid.MapOf(name, scalar)
	value := rapid.OneOf(scalar, rapid.Custom(func(t *rapid.T) any {
		top := members.Draw(t, "members")
		if rapid.Bool().Draw(t, "payload") {
			top["subagent_task"] = members.Draw(t, "payload")
		}
		return top
	}))
	rapid.Check(t, func(t *rapid.T) {
		n := normalizedCall{}
		for i := range rapid.IntRange(1, 8).Draw(t, "frames") {
			reported := value.Draw(t, strconv.Itoa(i))
			came, before := string(canonicalOf(reported)), string(canonicalOf(n.known))
			n.holds(reported)
			changed := n.merge(reported)
			after := string(canonicalOf(n.known))
			if n.known != nil && n.bytes() != len(after) {
				t.Fatalf("%s with %s is %s, counted as %d", before, came, after, n.bytes())
			}
			if changed != (before != after) || string(canonicalOf(reported)) != came {
				t.Fatalf("%s with %s is %s: changed %v, and the frame is %s", before, came, after, changed, canonicalOf(reported))
			}
		}
	})
}

// What a frame costs is what it replaces: a call that has grown to megabytes is not
// written out anew for each of the frames of a batch.
func TestNormalizedCostsWhatChanges(t *testing.T) {
	n := normalizedCall{}
	n.merge(map[string]any{"output": strings.Repeat("x", domain.MaxMessageText-1000)})
	n.bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const frames = 100
	for i := range frames {
		reported := map[string]any{"step": json.Number(strconv.Itoa(i))}
		if !n.holds(reported) || !n.merge(reported) {
			t.Fatal("not merged")
		}
	}
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > domain.MaxMessageText {
		t.Errorf("%d frames cost %d bytes", frames, cost)
	}
}
