package handlers

import (
	"testing"

	"gatehouse/gen"
)

// API-25: every operation of the contract has a rule of the scope that it states,
// and all that it says of requests is enforced.
func TestOperationRules(t *testing.T) {
	doc, err := gen.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newOperations(doc, OperationRules, BodyLimits{}); err != nil {
		t.Error(err)
	}
}
