// Command gatehouse is the service and its tools: see gatehouse help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, end := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		// The first signal asks the program to end. Before it begins to, signals have
		// their own effect again: a second one ends it at once (OP-10).
		<-signals
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		end()
	}()
	tuneGC()
	p := program{stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), assemble: assemble}
	os.Exit(p.run(ctx, os.Args[1:]))
}
