package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"gatehouse/importer"
	"gatehouse/importer/claudecode"
)

// progress shows on standard error how far an import is: as a bar with bytes, rate
// and time left on a terminal, else as a line per file (HI-33).
type progress struct {
	bar *progressbar.ProgressBar // nil where there is no terminal
	out io.Writer
}

func (p *program) newProgress(found []claudecode.Transcript) *progress {
	if !isTerminal(p.stderr) {
		return &progress{out: p.stderr}
	}
	var size int64
	for _, t := range found {
		size += t.Size
	}
	return &progress{out: p.stderr, bar: progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(p.stderr),
		progressbar.OptionSetDescription("import"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)}
}

// add tells of bytes that are done. What a terminal does with them is no matter.
func (p *progress) add(bytes int64) {
	if p.bar != nil {
		_ = p.bar.Add64(bytes)
	}
}

// done tells that a transcript is done, and how many messages it holds.
func (p *progress) done(t claudecode.Transcript, messages int) {
	if p.bar == nil {
		fmt.Fprintf(p.out, "%s: %s\n", t.Path, count(messages, "message"))
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// writeResult writes the summary of an import, in words or as JSON.
func (p *program) writeResult(r *importer.Result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(p.stdout).Encode(r)
	}
	_, err := io.WriteString(p.stdout, inWords(r))
	return err
}

// inWords tells a person what an import found, what of it was new and what was wrong.
func inWords(r *importer.Result) string {
	var b strings.Builder
	s, a := r.Summary, r.Added
	fmt.Fprintf(&b, "found  %s\n", counts(s.Files, s.Tasks, s.Sessions, s.Subagents, s.Executions, s.Messages, s.FileChanges))
	switch {
	case s.Sessions == 0:
		b.WriteString("added  nothing: no conversation of Claude Code was found\n")
	case a == (importer.Added{}):
		b.WriteString("added  nothing: all of it was here\n")
	default:
		fmt.Fprintf(&b, "added  %s\n", counts(a.Files, a.Tasks, a.Sessions, a.Subagents, a.Executions, a.Messages, a.FileChanges))
	}
	for _, p := range s.Problems {
		at := p.File
		if p.Line > 0 {
			at = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		fmt.Fprintf(&b, "%s: %s\n", at, reasonInWords(p.Reason))
	}
	if n := skipped(s.Skipped); n > len(s.Problems) {
		fmt.Fprintf(&b, "and %s more, not named\n", count(n-len(s.Problems), "problem"))
	}
	for _, reason := range slices.Sorted(maps.Keys(s.Skipped)) {
		fmt.Fprintf(&b, "%6d × %s\n", s.Skipped[reason], reasonInWords(reason))
	}
	return b.String()
}

func skipped(by map[claudecode.Reason]int) (n int) {
	for _, count := range by {
		n += count
	}
	return n
}

func counts(files, tasks, sessions, subagents, executions, messages, changes int) string {
	return fmt.Sprintf("%s, %s, %s (%s of subagents), %s of subagents, %s, %s",
		count(files, "file"), count(tasks, "task"), count(sessions, "session"), strconv.Itoa(subagents),
		count(executions, "run"), count(messages, "message"), count(changes, "file change"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// reasonInWords explains the reasons that are not plain by themselves.
func reasonInWords(r claudecode.Reason) string {
	words := map[claudecode.Reason]string{
		claudecode.ReasonTorn:        "the line ends in the middle of a value",
		claudecode.ReasonMalformed:   "no JSON",
		claudecode.ReasonNoObject:    "JSON, but no object",
		claudecode.ReasonShape:       "a line of another shape than its type has",
		claudecode.ReasonTooLong:     "a line that is too long to be read",
		claudecode.ReasonUTF8:        "invalid UTF-8 was replaced",
		claudecode.ReasonUnknownType: "a type of line that is not known",
		claudecode.ReasonNoSession:   "a file without a conversation",
		claudecode.ReasonUnlinked:    "the file of a subagent that no call leads to",
		claudecode.ReasonUnreadable:  "the file could not be read",
		"other_workspace":            "its session is in another workspace already; nothing of it was written",
		"other_task":                 "its session is in another task already, which no import made; nothing of it was written",
		"message_conflict":           "a message differs from the one that was stored under its id",
		"message_not_found":          "the run of a subagent whose message was left out",
		"session_conflict":           "the run of a subagent whose session was deleted",
		"task_archived":              "a new subagent, which an archived task does not take",
		"validation_failed":          "a message is beyond the limits of what is stored",
	}[r]
	if words == "" {
		return string(r)
	}
	return words
}
