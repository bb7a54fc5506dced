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
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// run is the demo: args are those of the command line, without its name.
func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	binary := flags.String("gatehouse", "bin/gatehouse", "the program to show")
	transcript := flags.String("transcript", "testdata/transcripts/claude-code/experiments-worktrees", "the session file to import, or its folder")
	keep := flags.Bool("keep", false, "keep the server running until interrupted")
	if err := flags.Parse(args); err != nil {
		return err
	}
	p := newPrinter(stdout)
	s, err := startServer(ctx, *binary)
	if err != nil {
		return err
	}
	defer func() {
		stopped := s.stop()
		if ctx.Err() == nil { // an interrupt at a terminal reaches the server, too
			err = errors.Join(err, stopped)
		}
	}()
	p.say("A server on %s, with its data and its log in %s", s.url, s.dir)

	d := &demo{server: s, print: p}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return d.importTranscript(ctx, *transcript) },
		d.review,
		d.send,
		d.deliver,
		d.refuse,
		d.showHistory,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("step %d: %w (the server's log is %s)", p.steps, err, s.logFile())
		}
	}
	p.look(s, *keep)
	if *keep {
		<-ctx.Done()
	}
	return nil
}
