package history

import (
	"fmt"
	"strconv"
	"strings"
)

// contextLines is how many unchanged lines a hunk shows around its edits.
const contextLines = 3

// hunks renders d as the hunks of a unified diff, without a file header. Writing
// stops soon after limit bytes, so the text may be longer than that; whoever has a
// limit cuts it.
//
// The library's renderer counts lines from the start for every edit, which takes
// minutes on large texts, and writes "-5" for "-5,0"; hence this one.
func (d lineDiff) hunks(limit int) string {
	w := &hunkWriter{limit: limit}
	for first := 0; first < len(d.edits) && !w.full(); {
		last := first
		for last+1 < len(d.edits) && d.gap(last) <= 2*contextLines {
			last++
		}
		d.writeHunk(w, d.edits[first:last+1])
		first = last + 1
	}
	return w.text.String()
}

// gap is the number of unchanged lines behind edit i and before the next.
func (d lineDiff) gap(i int) int {
	return d.edits[i+1].beforeLine - d.edits[i].beforeLine - d.edits[i].deleted
}

// writeHunk writes one hunk of edits that stand close together.
func (d lineDiff) writeHunk(w *hunkWriter, edits []edit) {
	first, last := edits[0], edits[len(edits)-1]
	lead := lastLines(d.before[:first.beforeStart], contextLines)
	trail := firstLines(d.before[last.beforeEnd:], contextLines)
	leading, trailing := countLines(lead), countLines(trail)

	w.header(
		first.beforeLine-leading, last.beforeLine+last.deleted+trailing,
		first.afterLine-leading, last.afterLine+last.added+trailing,
	)
	w.lines(' ', lead)
	for i, e := range edits {
		if i > 0 {
			w.lines(' ', d.before[edits[i-1].beforeEnd:e.beforeStart])
		}
		w.lines('-', d.before[e.beforeStart:e.beforeEnd])
		w.lines('+', d.after[e.afterStart:e.afterEnd])
	}
	w.lines(' ', trail)
}

// hunkWriter writes the lines of hunks until it is full.
type hunkWriter struct {
	text  strings.Builder
	limit int
}

func (w *hunkWriter) full() bool { return w.text.Len() > w.limit }

// header writes the head of a hunk over lines [from, to) of either side.
func (w *hunkWriter) header(beforeFrom, beforeTo, afterFrom, afterTo int) {
	fmt.Fprintf(&w.text, "@@ -%s +%s @@\n", lineRange(beforeFrom, beforeTo), lineRange(afterFrom, afterTo))
}

// lineRange counts lines from 1, names the line before an empty range, and leaves
// out the length 1, as patch tools expect.
func lineRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return strconv.Itoa(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// lines writes each line of text behind mark.
func (w *hunkWriter) lines(mark byte, text string) {
	for line := range strings.Lines(text) {
		if w.full() {
			return
		}
		w.text.WriteByte(mark)
		w.text.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			w.text.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// lastLines returns the last n lines of text, which ends behind a line.
func lastLines(text string, n int) string {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		at = strings.LastIndexByte(text[:at-1], '\n') + 1
	}
	return text[at:]
}

// firstLines returns the first n lines of text.
func firstLines(text string, n int) string {
	at := 0
	for ; n > 0; n-- {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return text
		}
		at += next + 1
	}
	return text[:at]
}
