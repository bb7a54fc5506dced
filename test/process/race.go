//go:build race

package process

// raceFlags build the program as make test builds the tests, which says why SQLite is
// not watched: what is compiled for the one is there for the other.
var raceFlags = []string{
	"-race",
	"-gcflags=modernc.org/sqlite/lib=-race=false",
	"-gcflags=modernc.org/libc/...=-race=false",
	"-gcflags=modernc.org/memory=-race=false",
}
