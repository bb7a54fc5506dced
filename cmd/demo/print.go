package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/oapi-codegen/nullable"
	"golang.org/x/term"

	"gatehouse/gen/client"
)

// Codes of [printer.style].
const (
	bold  = "1"
	faint = "2"
	red   = "31"
	green = "32"
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
	fmt.Fprintf(p.w, "\n%s\n", p.style(bold, fmt.Sprintf("%d. %s", p.steps, title)))
}

// say writes a line.
func (p *printer) say(format string, args ...any) {
	fmt.Fprintf(p.w, "   %s\n", fmt.Sprintf(format, args...))
}

// quote writes a text as it is, set off.
func (p *printer) quote(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(p.w, "   %s\n", strings.TrimRight(p.style(faint, "|")+" "+strings.TrimRight(line, "\n"), " "))
	}
}

// change writes what was done to a file, in columns: lines added and deleted (null
// where nobody knows them), the kind of the change and the path.
func (p *printer) change(added, deleted nullable.Nullable[int64], kind client.ChangeType, path string) {
	p.say("    %s %s  %-8s  %s", p.style(green, count("+", added)), p.style(red, count("-", deleted)),
		strings.ToLower(string(kind)), path)
}

// count is a number of lines with its sign, five characters wide.
func count(sign string, lines nullable.Nullable[int64]) string {
	text := "?"
	if n, err := lines.Get(); err == nil {
		text = sign + strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%5s", text)
}

// look says how to look further.
func (p *printer) look(s *server, kept bool) {
	p.step("Look further")
	url := "http://127.0.0.1:8080"
	if kept {
		url = s.url
		p.say("The server runs until you interrupt it.")
	} else {
		p.say("A server on the data of this demo:")
		p.say("    %s serve --database %s", s.binary, s.database())
	}
	p.say("Swagger UI:  %s/docs/", url)
	p.say("Token:       %s", s.token)
	p.say("Clean up:    rm -r %s", s.dir)
	p.say("README.md goes through the same with curl.")
}
