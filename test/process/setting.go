package process

import (
	"os"
	"strconv"
	"testing"
)

// Number reads a setting of a suite from the environment.
func Number(tb testing.TB, name string, standard uint64) uint64 {
	tb.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return n
}
