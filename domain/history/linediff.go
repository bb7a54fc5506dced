package history

import "strings"

// edit replaces lines of one text by lines of another. Bytes and lines count from 0.
type edit struct {
	beforeStart, beforeEnd int // bytes of the text before
	afterStart, afterEnd   int // bytes of the text after
	beforeLine, afterLine  int // first line of each side
	deleted, added         int // lines
}

// lineDiff is the difference between two texts, line by line. A line ends behind
// its "\n" and nowhere else, so "\r\n" belongs to its line, and a last line without
// "\n" differs from the same with it.
type lineDiff struct {
	before, after string
	edits         []edit // ascending, none empty, none adjacent
}

// maxDiffLines bounds the lines of both texts, less their common start and end,
// that are compared. It holds 10 MiB a side of code; memory and time stay small.
const maxDiffLines = 1 << 20

// diffTexts compares two texts. The result always leads from one to the other. It
// is the smallest such when at most ninety lines differ; else it may be
// larger, and of more than maxDiffLines it is one edit: time is bounded whatever
// the texts are.
func diffTexts(before, after string) lineDiff {
	d := lineDiff{before: before, after: after}
	if before == after {
		return d
	}
	start := commonStart(before, after)
	end := commonEnd(before[start:], after[start:])
	first := strings.Count(before[:start], "\n")
	old, now := before[start:len(before)-end], after[start:len(after)-end]
	whole := edit{
		beforeStart: start, beforeEnd: start + len(old), afterStart: start, afterEnd: start + len(now),
		beforeLine: first, afterLine: first, deleted: countLines(old), added: countLines(now),
	}
	if whole.deleted == 0 || whole.added == 0 || whole.deleted+whole.added > maxDiffLines {
		d.edits = []edit{whole}
		return d
	}
	for _, e := range matchLines(old, now) {
		d.edits = append(d.edits, e.shift(start, first))
	}
	return d
}

// shift moves e behind a common start of so many bytes and lines.
func (e edit) shift(bytes, lines int) edit {
	return edit{
		e.beforeStart + bytes, e.beforeEnd + bytes, e.afterStart + bytes, e.afterEnd + bytes,
		e.beforeLine + lines, e.afterLine + lines, e.deleted, e.added,
	}
}

// counts returns how many lines were added and deleted.
func (d lineDiff) counts() (added, deleted int64) {
	for _, e := range d.edits {
		added += int64(e.added)
		deleted += int64(e.deleted)
	}
	return added, deleted
}

// commonStart is the length of the whole lines that a and b both begin with.
func commonStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// commonEnd is the length of the whole lines that a and b, both at the start of a
// line, end with.
func commonEnd(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if startsLine(a, len(a)-n) && startsLine(b, len(b)-n) {
		return n
	}
	cut := strings.IndexByte(a[len(a)-n:], '\n') + 1
	if cut == 0 {
		return 0
	}
	return n - cut
}

func startsLine(s string, at int) bool { return at == 0 || s[at-1] == '\n' }

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
