package domain

// PageRequest asks for one page of a list (API-7).
type PageRequest struct {
	Limit  int    // 1 to MaxListItems; 0 is DefaultListItems
	Cursor string // next_cursor of the page before; empty for the first
}

// Size returns how many items the page holds at most, or a [ValidationError] at
// /query/limit.
func (r PageRequest) Size() (int, error) {
	switch {
	case r.Limit == 0:
		return DefaultListItems, nil
	case r.Limit < 1 || r.Limit > MaxListItems:
		return 0, Invalid("/query/limit", ProblemRange, "must be between 1 and %d", MaxListItems)
	default:
		return r.Limit, nil
	}
}

// Page is one page of a list (API-7).
type Page[T any] struct {
	Items      []T     // never nil
	NextCursor *string // nil on the last page
}

// NewPage makes a page of size out of items, which were read with one more than
// size where there are that many. cursor names the last item of the page.
func NewPage[T any](items []T, size int, cursor func(last T) string) Page[T] {
	if items == nil {
		items = []T{}
	}
	if len(items) <= size {
		return Page[T]{Items: items}
	}
	return Page[T]{Items: items[:size], NextCursor: new(cursor(items[size-1]))}
}
