package db_test

import (
	"flag"
	"os"
	"testing"
)

// modelChecks is how many random runs of each model a test run makes on each
// database. A long one makes more: go test ./db -run 'QU-23' -rapid.checks=1000.
const modelChecks = "20"

func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", modelChecks); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
