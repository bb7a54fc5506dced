package domain

import "time"

// Position is a place in a list that is ordered by time of creation, then id.
type Position struct {
	At time.Time
	ID string
}

// ReadPage reads one page of a list of that order. kind names the list in its
// cursors. read returns at most limit items behind after, or from the start when
// after is nil; at tells an item's place.
func ReadPage[T any](r PageRequest, kind string, read func(after *Position, limit int) ([]T, error), at func(T) Position) (Page[T], error) {
	size, err := r.Size()
	if err != nil {
		return Page[T]{}, err
	}
	after, err := parsePosition(kind, r.Cursor)
	if err != nil {
		return Page[T]{}, err
	}
	items, err := read(after, size+1)
	if err != nil {
		return Page[T]{}, err
	}
	return NewPage(items, size, func(last T) string {
		p := at(last)
		return EncodeCursor(kind, p.At.UTC().Format(time.RFC3339Nano), p.ID)
	}), nil
}

// parsePosition reads a cursor, which anybody can make up. What it lets through, every
// database can compare with: a time of the years that are written with four digits,
// and an id.
func parsePosition(kind, cursor string) (*Position, error) {
	if cursor == "" {
		return nil, nil
	}
	parts, err := DecodeCursor(kind, cursor)
	if err != nil {
		return nil, err
	}
	if len(parts) != 2 {
		return nil, InvalidCursor()
	}
	at, err := time.Parse(time.RFC3339Nano, parts[0])
	at = at.UTC()
	id, isID := ParseID(parts[1])
	if err != nil || !isID || at.Year() < 1 || at.Year() > 9999 {
		return nil, InvalidCursor()
	}
	return &Position{at, id}, nil
}
