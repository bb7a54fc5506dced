package handlers

import (
	"time"

	"github.com/oapi-codegen/nullable"

	"gatehouse/domain"
	"gatehouse/gen"
)

// each is what convert makes of every item, in a list that is never null.
func each[T, G any](items []T, convert func(T) G) []G {
	out := make([]G, len(items))
	for i, item := range items {
		out[i] = convert(item)
	}
	return out
}

// nullOr is the value p points to, or null.
func nullOr[T any](p *T) nullable.Nullable[T] {
	if p == nil {
		return nullable.NewNullNullable[T]()
	}
	return nullable.NewNullableWithValue(*p)
}

// at is a time on the wire.
func at(t time.Time) gen.Time { return gen.Time{Time: t} }

// nullAt is the time p points to, or null.
func nullAt(p *time.Time) nullable.Nullable[gen.Time] {
	if p == nil {
		return nullable.NewNullNullable[gen.Time]()
	}
	return nullable.NewNullableWithValue(at(*p))
}

// timeOf is a time of a request, nil when it is absent.
func timeOf(p *gen.Time) *time.Time {
	if p == nil {
		return nil
	}
	return new(p.UTC())
}

// nullOrBody is what convert makes of the value p points to, or null.
func nullOrBody[T, G any](p *T, convert func(T) G) nullable.Nullable[G] {
	if p == nil {
		return nullable.NewNullNullable[G]()
	}
	return nullable.NewNullableWithValue(convert(*p))
}

// orZero is the value p points to, or the zero value when it is absent.
func orZero[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

// pageRequest is the page that the parameters of a list ask for (API-7).
func pageRequest(limit *int, cursor *string) domain.PageRequest {
	return domain.PageRequest{Limit: orZero(limit), Cursor: orZero(cursor)}
}

// bodyID is an id of a request body, which the contract has judged, in the form
// in which ids are stored.
func bodyID(id string) string {
	canonical, _ := domain.ParseID(id)
	return canonical
}

// optionalID is bodyID for a member that may be absent.
func optionalID(id *string) *string {
	if id == nil {
		return nil
	}
	return new(bodyID(*id))
}
