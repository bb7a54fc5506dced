package domain

import (
	"testing"
	"time"
)

func TestStorable(t *testing.T) {
	for text, want := range map[string]bool{
		"0001-01-01T00:00:00Z":      true,
		"9999-12-31T23:59:59Z":      true,
		"0000-12-31T23:59:59Z":      false,
		"0001-01-01T00:00:00+23:59": false,
		"9999-12-31T23:59:59-23:59": false,
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Storable(at); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
