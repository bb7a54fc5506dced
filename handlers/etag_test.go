package handlers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// API-6: conditional requests as RFC 9110 reads them.
func TestConditions(t *testing.T) {
	for header, want := range map[string]struct {
		same   bool     // If-None-Match names the state "a:1"
		accept []string // If-Match; nil: refused
	}{
		`"a:1"`:           {true, []string{"a:1"}},
		`"b", "a:1" `:     {true, []string{"b", "a:1"}},
		`*`:               {true, []string{"*"}},
		`W/"a:1"`:         {true, []string{}},
		`"b"`:             {false, []string{"b"}},
		`""`:              {false, []string{""}},
		`a:1`:             {false, nil},
		`"a:1`:            {false, nil},
		`"`:               {false, nil},
		``:                {false, nil},
		`"a:1",`:          {false, nil},
		`"a""b"`:          {false, nil},
		`"b", *`:          {false, nil},
		`w/"a:1"`:         {false, nil},
		`W/"b", "a:1"`:    {true, []string{"a:1"}},
		`"a:1" , W/"a:1"`: {true, []string{"a:1"}},
	} {
		if got := unchanged(&header, "a:1"); got != want.same {
			t.Errorf("If-None-Match %s: %v, want %v", header, got, want.same)
		}
		got, err := conditionOf(&header)
		if diff := cmp.Diff(want.accept, got); diff != "" || (err != nil) != (want.accept == nil) {
			t.Errorf("If-Match %s: %v (-want +got):\n%s", header, err, diff)
		}
	}
	if accept, err := conditionOf(nil); accept != nil || err != nil || unchanged(nil, "a:1") {
		t.Error("no header is no condition")
	}
}
