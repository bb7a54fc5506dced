package domain

import (
	"strings"
	"unicode/utf8"
)

// IsBlank reports whether s is empty after trimming Unicode white space (PC-11).
func IsBlank(s string) bool { return strings.TrimSpace(s) == "" }

// HasNUL reports whether s holds U+0000, which people's text may not.
func HasNUL(s string) bool { return strings.ContainsRune(s, 0) }

// ReplaceNUL returns agent output with each U+0000 replaced by U+FFFD, and
// whether there was any.
func ReplaceNUL(s string) (string, bool) {
	if !HasNUL(s) {
		return s, false
	}
	return strings.ReplaceAll(s, "\x00", string(utf8.RuneError)), true
}

// CheckText notes in p what is wrong with a text people wrote: over max bytes, or
// U+0000 in it. Blank text is judged by the caller.
func CheckText(p *Problems, field, s string, maxBytes int) {
	if len(s) > maxBytes {
		p.Add(field, ProblemTooLong, "must be at most %d bytes of UTF-8", maxBytes)
	}
	if HasNUL(s) {
		p.Add(field, ProblemNUL, "must not contain U+0000")
	}
}
