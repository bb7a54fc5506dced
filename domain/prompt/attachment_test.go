package prompt

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
)

// AD-10: which attachments an admission gets.
func TestClaim(t *testing.T) {
	now := time.Date(2031, 3, 4, 5, 6, 7, 0, time.UTC)
	later := now.Add(time.Microsecond)
	staged := func(id string) Attachment {
		return Attachment{ID: id, Name: "n" + id, MediaType: "text/plain", Bytes: 3, ExpiresAt: &later}
	}
	expired, claimed := staged("e"), staged("c")
	expired.ExpiresAt = &now // over at this very moment
	claimed.ExpiresAt, claimed.DeliveryID = nil, new("d")
	found := []Attachment{staged("a"), expired, claimed, staged("b")}
	for name, c := range map[string]struct {
		ids  []string
		want error
	}{
		"none":                   {nil, nil},
		"in the order of naming": {[]string{"b", "a"}, nil},
		"missing":                {[]string{"a", "x"}, ErrAttachmentNotFound},
		"expired":                {[]string{"e", "c"}, ErrAttachmentNotFound},
		"claimed":                {[]string{"a", "c", "x"}, ErrAttachmentClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := claim(c.ids, found, now)
			if !errors.Is(err, c.want) {
				t.Fatalf("error is %v, want %v", err, c.want)
			}
			if err != nil {
				return
			}
			want := []Attached{}
			for _, id := range c.ids {
				want = append(want, Attached{id, "n" + id, "text/plain", 3})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// AD-10: what may be staged, and under which name.
func TestNewAttachment(t *testing.T) {
	long := strings.Repeat("é", domain.MaxShortText/2)
	for name, c := range map[string]struct {
		change func(*NewAttachment)
		field  string // "" when it may be
		code   string
	}{
		"a name in any script":    {func(n *NewAttachment) { n.Name = `"Grüße", 100% ; שלום 👩‍👧.txt ` }, "", ""},
		"a name of 500 bytes":     {func(n *NewAttachment) { n.Name = long }, "", ""},
		"a name of 501 bytes":     {func(n *NewAttachment) { n.Name = long + "x" }, "/query/name", domain.ProblemTooLong},
		"no name":                 {func(n *NewAttachment) { n.Name = " " }, "/query/name", domain.ProblemBlank},
		"U+0000":                  {func(n *NewAttachment) { n.Name = "a\x00" }, "/query/name", domain.ProblemNUL},
		"a line":                  {func(n *NewAttachment) { n.Name = "a\r\nSet-Cookie: x" }, "/query/name", domain.ProblemFormat},
		"a control of Unicode":    {func(n *NewAttachment) { n.Name = "a\u0085" }, "/query/name", domain.ProblemFormat},
		"a path":                  {func(n *NewAttachment) { n.Name = "../a" }, "/query/name", domain.ProblemFormat},
		"a path of Windows":       {func(n *NewAttachment) { n.Name = `C:\a` }, "/query/name", domain.ProblemFormat},
		"a folder":                {func(n *NewAttachment) { n.Name = ".." }, "/query/name", domain.ProblemFormat},
		"a hidden file":           {func(n *NewAttachment) { n.Name = "..a" }, "", ""},
		"nothing":                 {func(n *NewAttachment) { n.Content = nil }, "/body", domain.ProblemBlank},
		"10 MiB":                  {func(n *NewAttachment) { n.Content = make([]byte, domain.MaxAttachmentBytes) }, "", ""},
		"more than 10 MiB":        {func(n *NewAttachment) { n.Content = make([]byte, domain.MaxAttachmentBytes+1) }, "/body", domain.ProblemTooLong},
		"no media type":           {func(n *NewAttachment) { n.MediaType = "text" }, "/header/Content-Type", domain.ProblemFormat},
		"a form":                  {func(n *NewAttachment) { n.MediaType = "multipart/form-data; boundary=x" }, "/header/Content-Type", domain.ProblemFormat},
		"half a media type":       {func(n *NewAttachment) { n.MediaType = "text/" }, "/header/Content-Type", domain.ProblemFormat},
		"two media types":         {func(n *NewAttachment) { n.MediaType = "text/plain, text/html" }, "/header/Content-Type", domain.ProblemFormat},
		"a parameter without end": {func(n *NewAttachment) { n.MediaType = `text/plain; a="` }, "/header/Content-Type", domain.ProblemFormat},
		"a long media type":       {func(n *NewAttachment) { n.MediaType = "text/plain; a=" + strings.Repeat("x", domain.MaxShortText) }, "/header/Content-Type", domain.ProblemTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			n := NewAttachment{Name: "a.txt", MediaType: "text/plain", Content: []byte("x")}
			c.change(&n)
			_, err := n.check()
			invalid, _ := errors.AsType[*domain.ValidationError](err)
			switch {
			case c.field == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.field == "":
			case invalid == nil || len(invalid.Problems) != 1 || invalid.Problems[0].Field != c.field || invalid.Problems[0].Code != c.code:
				t.Errorf("error is %v, want %s %s", err, c.field, c.code)
			}
		})
	}
}

// A media type is kept in one form, with its parameters.
func TestMediaType(t *testing.T) {
	for declared, want := range map[string]string{
		"":                              "application/octet-stream",
		"Image/PNG":                     "image/png",
		"text/plain;CHARSET=UTF-8":      "text/plain; charset=UTF-8",
		`text/plain; b="two words";a=1`: `text/plain; a=1; b="two words"`,
		"application/vnd.oasis.opendocument.text": "application/vnd.oasis.opendocument.text",
	} {
		var p domain.Problems
		if got := checkMediaType(&p, "", declared); got != want || p.Err() != nil {
			t.Errorf("%q became %q, %v", declared, got, p.Err())
		}
	}
}
