// Command demo walks through the main job of Gatehouse on a fresh SQLite database:
// a real transcript with its subagents, a plan with feedback, the prompt that takes
// the feedback to an agent, and the history in which the subagents' file changes
// stand on the messages that called them. It fails when a step does not give what
// it must. Run it with make demo.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// run is the demo: args are those of the command line, without its name.
func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	binary := flags.String("gatehouse", "bin/gatehouse", "the program to show")
	transcript := flags.String("transcript", "testdata/transcripts/claude-code/experiments-worktrees", "session files to import")
	keep := flags.Bool("keep", false, "keep the server running until interrupted")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gatehouse-demo-")
	if err != nil {
		return err
	}
	p := newPrinter(stdout)
	s, err := startServer(ctx, *binary, filepath.Join(dir, "gatehouse.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	p.say("A server on %s, with its data in %s", s.url, dir)

	d := &demo{server: s, print: p}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return d.importTranscript(ctx, *transcript) },
		d.review,
		d.send,
		d.deliver,
		d.showHistory,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	p.look(s, *binary, *keep)
	if *keep {
		<-ctx.Done()
	}
	return nil
}
