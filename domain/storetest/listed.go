package storetest

import (
	"testing"

	"gatehouse/domain"
)

// listed reads a whole list, in pages of at most limit items, and returns of of each.
func listed[T, V any](t *testing.T, limit int, read func(r domain.PageRequest) (domain.Page[T], error), of func(T) V) (all []V) {
	t.Helper()
	for r := (domain.PageRequest{Limit: limit}); ; {
		page, err := read(r)
		if err != nil {
			t.Fatal(err)
		}
		if page.Items == nil || len(page.Items) > limit {
			t.Fatalf("a page of at most %d holds %d", limit, len(page.Items))
		}
		for _, item := range page.Items {
			all = append(all, of(item))
		}
		if page.NextCursor == nil {
			return all
		}
		r.Cursor = *page.NextCursor
	}
}
