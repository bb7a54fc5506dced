package gen_test

import (
	"testing"

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
			if op.Responses.Default() == nil {
				t.Errorf("%s does not say how it fails", op.OperationID)
			}
		}
	}
}
