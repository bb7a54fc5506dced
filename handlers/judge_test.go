package handlers

import (
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"
)

// Where no rule of ours is stricter than JSON Schema, the judge and an
// independent reading of the contract agree on every body.
func TestJudgeAgreesWithTheContract(t *testing.T) {
	ref := loadContract(t).Components.Schemas["Everything"]
	ours, err := compiler{}.compile(ref)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		value := drawValue(t, 4)
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		problems, err := judgeJSON(data, ours)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		theirs := ref.Value.VisitJSON(value, openapi3.MultiErrors())
		if (len(problems) == 0) != (theirs == nil) {
			t.Fatalf("%s: %v here, %v there", data, problems, theirs)
		}
	})
}

// drawValue draws values that are often right. Not among them is what we judge
// otherwise: whole numbers with a fraction or an exponent, and null as any value.
func drawValue(t *rapid.T, depth int) any {
	scalars := []any{"a", "", "abcd", "done", "queued", "gone", "2031-03-04T05:06:07Z", true, false, 0.0, 1.0, 9.0, 10.0, -1.0, -2.0, 0.5, 3e9}
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	switch {
	case kind == 0 || depth == 0:
		return rapid.SampledFrom(scalars).Draw(t, "scalar")
	case kind == 1:
		items := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range items {
			items[i] = drawValue(t, depth-1)
		}
		return items
	}
	names := []string{"title", "note", "at", "code", "state", "maybe", "count", "small", "ratio", "flag", "tags", "labels", "open", "kind", "child", "name", "more"}
	object := map[string]any{}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(t, "names") {
		object[name] = drawValue(t, depth-1)
		if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
			object[name] = nil
		}
	}
	return object
}
