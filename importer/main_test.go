package importer_test

import (
	"flag"
	"os"
	"testing"
)

// cutChecks is how many times a test run cuts each sample on each database.
const cutChecks = "3"

func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", cutChecks); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
