package db

import (
	"fmt"
	"time"

	"github.com/uptrace/bun/dialect/sqlitedialect"
)

// sqliteTimeLayout has one width, so that stored times compare as text.
const sqliteTimeLayout = "2006-01-02T15:04:05.000000Z"

// sqliteTimes is bun's dialect of SQLite with times of one width, in UTC. bun
// itself drops the zeros at the end of a fraction, and then "…05Z" sorts after
// "…05.5Z".
type sqliteTimes struct{ *sqlitedialect.Dialect }

// AppendTime implements schema.Dialect for fields, pointers and arguments alike.
func (sqliteTimes) AppendTime(b []byte, t time.Time) []byte {
	b = append(b, '\'')
	b = t.UTC().AppendFormat(b, sqliteTimeLayout)
	return append(b, '\'')
}

// timeScanner reads a stored time into its destination, on either database, for
// the rows of a stmt: drivers return a time.Time or the text SQLite keeps.
type timeScanner struct{ dest *time.Time }

// scanTime is the destination of a column that is never null.
func scanTime(dest *time.Time) timeScanner { return timeScanner{dest} }

// Scan implements sql.Scanner.
func (s timeScanner) Scan(src any) error {
	switch src := src.(type) {
	case time.Time:
		*s.dest = src.UTC()
	case string:
		t, err := time.Parse(sqliteTimeLayout, src)
		if err != nil {
			return fmt.Errorf("stored time: %w", err)
		}
		*s.dest = t
	default:
		return fmt.Errorf("stored time is a %T", src)
	}
	return nil
}

// nullTimeScanner is timeScanner for a column that may be null.
type nullTimeScanner struct{ dest **time.Time }

// scanNullTime is the destination of a column that may be null.
func scanNullTime(dest **time.Time) nullTimeScanner { return nullTimeScanner{dest} }

// Scan implements sql.Scanner.
func (s nullTimeScanner) Scan(src any) error {
	if src == nil {
		*s.dest = nil
		return nil
	}
	var t time.Time
	if err := scanTime(&t).Scan(src); err != nil {
		return err
	}
	*s.dest = &t
	return nil
}
