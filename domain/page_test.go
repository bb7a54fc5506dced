package domain_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

// API-7: a cursor is opaque, survives the way there and back, and a bad or
// foreign one is a validation problem of the query.
func TestCursor(t *testing.T) {
	for _, parts := range [][]string{{}, {""}, {"2031-03-04T05:06:07.000000Z", "id"}, {"a\x00b", `"]`, "é"}} {
		got, err := domain.DecodeCursor("list", domain.EncodeCursor("list", parts...))
		if err != nil {
			t.Fatalf("DecodeCursor of %q: %v", parts, err)
		}
		if diff := cmp.Diff(parts, got); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
	}
	for name, s := range map[string]string{
		"empty":   "",
		"text":    "page 2",
		"foreign": domain.EncodeCursor("other", "1"),
		"longer":  domain.EncodeCursor("list/1", "1"),
		"no list": "e30",
		"padded":  domain.EncodeCursor("list", "1") + "=",
		"cut":     domain.EncodeCursor("list", "1")[:5],
		"null":    "bnVsbA",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := domain.DecodeCursor("list", s)
			bad, ok := errors.AsType[*domain.ValidationError](err)
			if !ok || bad.Problems[0].Field != "/query/cursor" {
				t.Errorf("DecodeCursor: %v, want a problem with /query/cursor", err)
			}
		})
	}
}

func TestPageSize(t *testing.T) {
	for limit, want := range map[int]int{0: 50, 1: 1, 50: 50, 200: 200, -1: 0, 201: 0} {
		got, err := domain.PageRequest{Limit: limit}.Size()
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("Size of limit %d: %d, %v, want %d", limit, got, err, want)
		}
	}
}

func TestNewPage(t *testing.T) {
	for _, c := range []struct {
		items []int
		want  domain.Page[int]
	}{
		{nil, domain.Page[int]{Items: []int{}}},
		{[]int{1, 2}, domain.Page[int]{Items: []int{1, 2}}},
		{[]int{1, 2, 3}, domain.Page[int]{Items: []int{1, 2}, NextCursor: new("2")}},
	} {
		if diff := cmp.Diff(c.want, domain.NewPage(c.items, 2, strconv.Itoa)); diff != "" {
			t.Errorf("page of %v (-want +got):\n%s", c.items, diff)
		}
	}
}

// API-7, QU-24: a cursor that names no place which a database can look for is refused
// before one is asked.
func TestReadPageRefusesPlaces(t *testing.T) {
	const id, now = "0190163d-8694-739b-aea5-966c26f8ad91", "2031-03-04T05:06:07.000008Z"
	read := func(at, id string) error {
		_, err := domain.ReadPage(domain.PageRequest{Cursor: domain.EncodeCursor("list", at, id)}, "list",
			func(*domain.Position, int) ([]int, error) { return nil, nil },
			func(int) domain.Position { return domain.Position{} })
		return err
	}
	if err := read(now, id); err != nil {
		t.Errorf("a place: %v", err)
	}
	for name, err := range map[string]error{
		"no id":        read(now, "a"),
		"NUL":          read(now, "\x00"),
		"no time":      read("now", id),
		"year 0":       read("0000-03-04T05:06:07Z", id),
		"year 10000":   read("9999-12-31T23:59:59-12:00", id),
		"no list item": read("", ""),
	} {
		if !errors.Is(err, domain.ErrValidation) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// QU-24: whatever a client sends as a cursor is either one of ours or refused.
func FuzzDecodeCursor(f *testing.F) {
	f.Add(domain.EncodeCursor("list", "1", "id"))
	f.Add(domain.EncodeCursor("list"))
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		parts, err := domain.DecodeCursor("list", s)
		if err != nil {
			if !errors.Is(err, domain.ErrValidation) {
				t.Errorf("DecodeCursor: %v", err)
			}
			return
		}
		again, err := domain.DecodeCursor("list", domain.EncodeCursor("list", parts...))
		if diff := cmp.Diff(parts, again); err != nil || diff != "" {
			t.Errorf("cursor does not come back: %v (-want +got):\n%s", err, diff)
		}
	})
}
