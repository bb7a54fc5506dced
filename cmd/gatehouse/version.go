package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Both are set by the linker: see build in the Makefile. Without it the revision is
// what Go noted by itself.
var (
	version  = "dev"
	revision = ""
)

// versionCommand prints what was built, from what, by which Go.
func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			goVersion := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				goVersion = info.GoVersion
			}
			_, err := fmt.Fprintf(p.stdout, "gatehouse %s (commit %s, %s)\n", version, commit(), goVersion)
			return err
		},
	}
}

// commit is the revision the program was built from, or "unknown".
func commit() string {
	if revision != "" {
		return revision
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
