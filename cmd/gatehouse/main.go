// Command gatehouse is the service and its tools: see gatehouse help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the program to end. From then on signals have their
	// own effect again: a second one ends it at once (OP-10).
	context.AfterFunc(ctx, stop)
	tuneGC()
	p := program{stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), assemble: assemble}
	os.Exit(p.run(ctx, os.Args[1:]))
}
