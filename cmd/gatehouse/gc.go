package main

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much the heap may grow, in percent of what lives, before garbage
// is collected. Little of this program lives between requests, and at the usual 100 a
// page of history took a third longer (QU-4, docs/benchmarks).
const gcPercent = 400

// tuneGC sets it, unless the operator has a word in it.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
