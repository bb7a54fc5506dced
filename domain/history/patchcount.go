package history

import (
	"strconv"
	"strings"
)

// CountPatch counts the lines that a unified patch adds and deletes, and reports
// whether it has any hunk to count in (HI-7).
//
// Only lines inside hunks count, by the lengths in their heads: there "+++ x" is a
// line "++ x" that was added, and outside it is a file header. The text may hold
// several files and anything between hunks. A hunk that breaks its own lengths ends
// where it does so; no text is an error.
func CountPatch(patch string) (added, deleted int64, ok bool) {
	var old, now int64 // lines the current hunk still owes
	for line := range strings.Lines(patch) {
		if o, n, head := parseHunkHead(line); head {
			old, now, ok = o, n, true
			continue
		}
		switch mark := hunkMark(line); {
		case mark == '+' && now > 0:
			added++
			now--
		case mark == '-' && old > 0:
			deleted++
			old--
		case mark == ' ' && old > 0 && now > 0:
			old--
			now--
		case mark == '\\': // remarks on the line before it
		default:
			old, now = 0, 0
		}
	}
	return added, deleted, ok
}

// hunkMark is the first byte of a line. A line without any is an unchanged empty
// one whose blank was trimmed on the way.
func hunkMark(line string) byte {
	if line[0] == '\n' || line == "\r\n" {
		return ' '
	}
	return line[0]
}

// parseHunkHead reads "@@ -a,b +c,d @@": the lengths b and d, 1 when left out. No
// line of a hunk begins like this, so it also ends one that promised more.
func parseHunkHead(line string) (old, now int64, ok bool) {
	ranges, found := strings.CutPrefix(line, "@@ -")
	if !found {
		return 0, 0, false
	}
	before, rest, plus := strings.Cut(ranges, " +")
	after, _, closed := strings.Cut(rest, " @@")
	if !plus || !closed {
		return 0, 0, false
	}
	old, okOld := parseLength(before)
	now, okNow := parseLength(after)
	return old, now, okOld && okNow
}

// parseLength reads the length of "start,length" or "start".
func parseLength(lines string) (int64, bool) {
	start, length, given := strings.Cut(lines, ",")
	if !given {
		length = "1"
	}
	_, errStart := strconv.ParseUint(start, 10, 63)
	n, err := strconv.ParseUint(length, 10, 63)
	return int64(n), errStart == nil && err == nil
}
