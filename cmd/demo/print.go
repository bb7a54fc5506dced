package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// printer writes for a person to read.
type printer struct {
	w      io.Writer
	colour bool
	steps  int
}

// newPrinter colours on a terminal, unless NO_COLOR is set.
func newPrinter(w io.Writer) *printer {
	f, ok := w.(*os.File)
	return &printer{w: w, colour: ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == ""}
}

func (p *printer) style(code, s string) string {
	if !p.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// step opens the next part.
func (p *printer) step(title string) {
	p.steps++
	fmt.Fprintf(p.w, "\n%s\n", p.style("1", fmt.Sprintf("%d. %s", p.steps, title)))
}

// say writes a line.
func (p *printer) say(format string, args ...any) {
	fmt.Fprintf(p.w, "   %s\n", fmt.Sprintf(format, args...))
}

// quote writes a text as it is, set off.
func (p *printer) quote(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(p.w, "   %s %s\n", p.style("2", "|"), strings.TrimRight(line, "\n"))
	}
}

// counts are lines added and deleted, as a diff says them.
func (p *printer) counts(added, deleted int64) string {
	return p.style("32", fmt.Sprintf("%+4d", added)) + " " + p.style("31", fmt.Sprintf("%4s", fmt.Sprintf("-%d", deleted)))
}

// look says how to look further.
func (p *printer) look(s *server, binary string, kept bool) {
	p.step("Look further")
	if !kept {
		p.say("Start a server on the same data:")
		p.say("  GATEHOUSE_DATABASE=%s %s serve", s.database, binary)
		p.say("Swagger UI is then at http://127.0.0.1:8080/docs/, the token is")
	} else {
		p.say("The server runs until you interrupt it. Swagger UI is at %s/docs/, the token is", s.url)
	}
	p.say("  %s", s.token)
	p.say("README.md has a quick start with curl.")
}
