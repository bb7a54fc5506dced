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

// keepMemory has garbage collected sooner where more than so many bytes would be used,
// unless the operator has a word in it, until undo is called.
func keepMemory(bytes int64) (undo func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(bytes)
	return func() { debug.SetMemoryLimit(before) }
}
