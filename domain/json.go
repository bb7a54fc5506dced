package domain

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// jsonError says why a JSON value has no canonical form. It never holds a part of
// the value.
type jsonError struct{ code, message string }

// ErrCanonicalTooLong is that a canonical form takes more bytes than it may.
var ErrCanonicalTooLong = errors.New("canonical JSON: too long")

// Error implements error.
func (e *jsonError) Error() string { return "canonical JSON: " + e.message }

// Is implements what [errors.Is] asks.
func (e *jsonError) Is(target error) bool {
	return target == ErrCanonicalTooLong && e.code == ProblemTooLong
}

// CanonicalJSON returns the one form in which equal JSON values are equal bytes, so
// that they can be fingerprinted, measured and compared: object members sorted by
// the bytes of their names, no space, the fewest escapes. Integers keep all their
// digits; every other number becomes the shortest decimal that gives the same
// float64, written without exponent, which is what PostgreSQL's jsonb gives back.
//
// It refuses what is not one JSON value in valid UTF-8, U+0000 in any text, a number
// that no float64 comes near or of more than 100,000 digits, and nesting over
// [MaxJSONDepth].
func CanonicalJSON(raw []byte) ([]byte, error) {
	v, err := ParseJSON(raw)
	if err != nil {
		return nil, err
	}
	return EncodeCanonical(v)
}

// EncodeCanonical is [CanonicalJSON] of a value that [ParseJSON] read.
func EncodeCanonical(v any) ([]byte, error) {
	return canonicalizer{maxDepth: MaxJSONDepth, maxBytes: math.MaxInt}.value(nil, v, 0)
}

// EncodeCanonicalWithin is [EncodeCanonical] that gives up, with
// [ErrCanonicalTooLong], when it takes more than most bytes.
func EncodeCanonicalWithin(v any, most int) ([]byte, error) {
	return canonicalizer{maxDepth: MaxJSONDepth, maxBytes: most}.value(nil, v, 0)
}

// ReplaceNULs returns a value that [ParseJSON] read with each U+0000 in its texts and
// names replaced by U+FFFD, and whether there was any. It may change v itself.
func ReplaceNULs(v any) (clean any, replaced bool) {
	switch v := v.(type) {
	case string:
		return ReplaceNUL(v)
	case []any:
		for i, item := range v {
			item, some := ReplaceNULs(item)
			v[i], replaced = item, replaced || some
		}
	case map[string]any:
		for name, member := range v {
			cleanName, inName := ReplaceNUL(name)
			member, some := ReplaceNULs(member)
			if inName {
				delete(v, name)
			}
			v[cleanName], replaced = member, replaced || some || inName
		}
	}
	return v, replaced
}

// canonicalizer appends canonical JSON within limits. A short number can have a long
// decimal form, so the size is watched while it grows.
type canonicalizer struct{ maxDepth, maxBytes int }

func (c canonicalizer) value(b []byte, v any, depth int) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case nil:
		b = append(b, "null"...)
	case bool:
		b = strconv.AppendBool(b, v)
	case string:
		b, err = appendText(b, v)
	case json.Number:
		b, err = appendNumber(b, v.String())
	case []any:
		b, err = c.array(b, v, depth+1)
	case map[string]any:
		b, err = c.object(b, v, depth+1)
	}
	if err == nil && len(b) > c.maxBytes {
		err = &jsonError{ProblemTooLong, "must be at most " + strconv.Itoa(c.maxBytes) + " bytes as canonical JSON"}
	}
	return b, err
}

func (c canonicalizer) array(b []byte, items []any, depth int) (_ []byte, err error) {
	if err := c.checkDepth(depth); err != nil {
		return nil, err
	}
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = c.value(b, item, depth); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func (c canonicalizer) object(b []byte, members map[string]any, depth int) (_ []byte, err error) {
	if err := c.checkDepth(depth); err != nil {
		return nil, err
	}
	b = append(b, '{')
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendText(b, name); err != nil {
			return nil, err
		}
		b = append(b, ':')
		if b, err = c.value(b, members[name], depth); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (c canonicalizer) checkDepth(depth int) error {
	if depth > c.maxDepth {
		return &jsonError{ProblemRange, "must be nested at most " + strconv.Itoa(c.maxDepth) + " deep"}
	}
	return nil
}

const hexDigits = "0123456789abcdef"

// appendText appends s as a JSON string that escapes only what must be escaped.
func appendText(b []byte, s string) ([]byte, error) {
	if HasNUL(s) {
		return nil, &jsonError{ProblemNUL, "must not contain U+0000"}
	}
	b = append(b, '"')
	plain := 0 // where what was not appended yet begins
	for i := range len(s) {
		ch := s[i]
		if ch >= ' ' && ch != '"' && ch != '\\' {
			continue
		}
		b = append(b, s[plain:i]...)
		plain = i + 1
		switch ch {
		case '"', '\\':
			b = append(b, '\\', ch)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[ch>>4], hexDigits[ch&15])
		}
	}
	b = append(b, s[plain:]...)
	return append(b, '"'), nil
}

// maxDigits is less than what PostgreSQL's numeric can hold.
const maxDigits = 100_000

// appendNumber appends the number that a JSON literal means.
func appendNumber(b []byte, literal string) ([]byte, error) {
	if !strings.ContainsAny(literal, ".eE") {
		if literal == "-0" {
			literal = "0"
		}
		if len(literal) > maxDigits {
			return nil, &jsonError{ProblemRange, "must hold no number of more than " + strconv.Itoa(maxDigits) + " digits"}
		}
		return append(b, literal...), nil
	}
	f, err := strconv.ParseFloat(literal, 64)
	significand, _, _ := strings.Cut(strings.ToLower(literal), "e")
	vanished := f == 0 && strings.ContainsAny(significand, "123456789")
	if err != nil || vanished {
		return nil, &jsonError{ProblemRange, "must hold no number outside the range of a 64-bit float"}
	}
	if f == 0 {
		return append(b, '0'), nil // minus zero, too
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64), nil
}
