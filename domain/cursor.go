package domain

import (
	"encoding/base64"
	"encoding/json"
)

var cursorEncoding = base64.RawURLEncoding.Strict()

// EncodeCursor returns an opaque base64url cursor of the list kind, made of the
// parts that find the place again (API-7). A list of one resource names it in
// its kind, as in "plan_revisions/"+planID, so that a cursor of another list is
// told apart.
func EncodeCursor(kind string, parts ...string) string {
	text, err := json.Marshal(append([]string{kind}, parts...))
	if err != nil {
		panic(err) // strings always marshal
	}
	return cursorEncoding.EncodeToString(text)
}

// DecodeCursor returns the parts of a cursor that [EncodeCursor] made for kind.
// Any other text is a [ValidationError] at /query/cursor. What the parts mean,
// and how many there are, is judged by the caller, with [InvalidCursor].
func DecodeCursor(kind, s string) ([]string, error) {
	text, err := cursorEncoding.DecodeString(s)
	if err != nil {
		return nil, InvalidCursor()
	}
	var parts []string
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) == 0 || parts[0] != kind {
		return nil, InvalidCursor()
	}
	return parts[1:], nil
}

// InvalidCursor is what a bad or foreign cursor is answered with (API-7).
func InvalidCursor() error {
	return Invalid("/query/cursor", ProblemFormat, "must be the next_cursor of an earlier page of this list")
}
