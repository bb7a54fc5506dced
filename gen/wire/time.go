// Package wire holds the types of openapi.yaml that Go's own do not write as the
// contract says. The generated code uses them.
package wire

import "time"

// Layout is how a time is written: RFC 3339, UTC, always six digits of a second (API-1).
const Layout = "2006-01-02T15:04:05.000000Z"

// Time is a time on the wire.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+Layout+`"`), nil
}
