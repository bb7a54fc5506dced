package gen_test

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"gatehouse/gen"
)

// Every operation says who may call it, and how it fails: one problem for all.
func TestContract(t *testing.T) {
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == "" || op.Summary == "" {
				t.Errorf("%s %s has no operationId or summary", method, path)
			}
			if op.Extensions["x-gatehouse-scope"] == nil {
				t.Errorf("%s does not say its scope", op.OperationID)
			}
			if public := op.Extensions["x-gatehouse-scope"] == "none"; op.Security == nil || public != (len(*op.Security) == 0) {
				t.Errorf("%s does not ask for a token as its scope says", op.OperationID)
			}
			if op.Responses.Default() == nil {
				t.Errorf("%s does not say how it fails", op.OperationID)
			}
		}
	}
}

// A code stands once in the list of all codes, so that the list can be read.
func TestProblemCodesAreDistinct(t *testing.T) {
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for _, code := range doc.Components.Schemas["ProblemCode"].Value.Enum {
		if seen[code] {
			t.Errorf("%v stands twice", code)
		}
		seen[code] = true
	}
	if len(seen) == 0 {
		t.Error("no codes")
	}
}

// What is sent may hold nothing the contract does not know (API-2).
func TestRequestBodiesAreClosed(t *testing.T) {
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			for _, media := range op.RequestBody.Value.Content {
				requireClosed(t, method+" "+path, media.Schema.Value)
			}
		}
	}
}

// requireClosed reports the objects below schema that take unknown members, other
// than those that say they are free.
func requireClosed(t *testing.T, where string, schema *openapi3.Schema) {
	t.Helper()
	if schema.Type.Is(openapi3.TypeObject) && schema.AdditionalProperties.Has == nil {
		t.Errorf("%s takes unknown members", where)
	}
	for name, property := range schema.Properties {
		requireClosed(t, where+"/"+name, property.Value)
	}
	if schema.Items != nil {
		requireClosed(t, where+"/*", schema.Items.Value)
	}
}
