package domain

import "time"

// Position is a place in a list that is ordered by time of creation, then id.
type Position struct {
	At time.Time
	ID string
}

// Order is how a list finds its place again: what its cursors hold. P is a place in it.
type Order[T, P any] struct {
	// Parts are those of the cursor behind an item.
	Parts func(last T) []string

	// Parse reads them back. Anybody can make a cursor up, so it lets through only
	// what every database can compare with.
	Parse func(parts []string) (place P, ok bool)
}

// ReadOrdered reads one page of a list. kind names the list in its cursors. read
// returns at most limit items behind after, or from the start when after is nil.
func ReadOrdered[T, P any](r PageRequest, kind string, order Order[T, P], read func(after *P, limit int) ([]T, error)) (Page[T], error) {
	size, err := r.Size()
	if err != nil {
		return Page[T]{}, err
	}
	after, err := placeOf(kind, r.Cursor, order)
	if err != nil {
		return Page[T]{}, err
	}
	items, err := read(after, size+1)
	if err != nil {
		return Page[T]{}, err
	}
	return NewPage(items, size, func(last T) string { return EncodeCursor(kind, order.Parts(last)...) }), nil
}

// placeOf is the place that a cursor names, nil for the start.
func placeOf[T, P any](kind, cursor string, order Order[T, P]) (*P, error) {
	if cursor == "" {
		return nil, nil
	}
	parts, err := DecodeCursor(kind, cursor)
	if err != nil {
		return nil, err
	}
	place, ok := order.Parse(parts)
	if !ok {
		return nil, InvalidCursor()
	}
	return &place, nil
}

// ReadPage is [ReadOrdered] of a list in the order of [Position]; at tells an item's
// place.
func ReadPage[T any](r PageRequest, kind string, read func(after *Position, limit int) ([]T, error), at func(T) Position) (Page[T], error) {
	return ReadOrdered(r, kind, Order[T, Position]{
		Parts: func(last T) []string {
			p := at(last)
			return []string{FormatCursorTime(p.At), p.ID}
		},
		Parse: parsePosition,
	}, read)
}

func parsePosition(parts []string) (p Position, ok bool) {
	if len(parts) != 2 {
		return Position{}, false
	}
	at, isTime := ParseCursorTime(parts[0])
	id, isID := ParseID(parts[1])
	return Position{at, id}, isTime && isID
}

// FormatCursorTime is a time as a part of a cursor.
func FormatCursorTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// ParseCursorTime reads it back, if it is one that can be stored.
func ParseCursorTime(text string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	return t.UTC(), err == nil && Storable(t)
}
