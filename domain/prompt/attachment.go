package prompt

import (
	"mime"
	"slices"
	"strings"
	"time"
	"unicode"

	"gatehouse/domain"
)

// Attachment is a file that is staged for the prompts of a task, until the one
// admission that takes it claims it (AD-10). Its bytes are kept and read apart.
type Attachment struct {
	ID         string `bun:",pk"`
	TaskID     string
	Name       string  // a label of at most 500 bytes, never a path
	MediaType  string  // in canonical form, with its parameters
	Bytes      int64   // its size, from 1 to [domain.MaxAttachmentBytes]
	DeliveryID *string // the one that claimed it; nil while it is staged
	CreatedAt  time.Time
	ExpiresAt  *time.Time // by the database's clock; nil once it is claimed
}

// expired reports whether a is gone at now, a time of the database's clock, be it
// removed yet or not. One that expires at now is gone.
func (a Attachment) expired(now time.Time) bool {
	return a.ExpiresAt != nil && !now.Before(*a.ExpiresAt)
}

// Attached is an attachment as the deliveries that carry it show it.
type Attached struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Bytes     int64  `json:"bytes"`
}

// claim returns what a delivery shows of the attachments that ids name, in their
// order, out of those found (AD-10). One that is missing or expired is
// [ErrAttachmentNotFound], one that another admission has [ErrAttachmentClaimed].
func claim(ids []string, found []Attachment, now time.Time) ([]Attached, error) {
	claimed := make([]Attached, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(found, func(a Attachment) bool { return a.ID == id })
		if at < 0 || found[at].expired(now) {
			return nil, ErrAttachmentNotFound
		}
		a := found[at]
		if a.DeliveryID != nil {
			return nil, ErrAttachmentClaimed
		}
		claimed[i] = Attached{a.ID, a.Name, a.MediaType, a.Bytes}
	}
	return claimed, nil
}

// checkFileName notes in p what is wrong with the name of an attachment. It is a
// label, but agents may save a file under it: what a file system would take for a
// path, or a terminal for a command, is refused.
func checkFileName(p *domain.Problems, field, name string) {
	domain.CheckText(p, field, name, domain.MaxShortText)
	switch {
	case domain.IsBlank(name):
		p.Add(field, domain.ProblemBlank, "must not be blank")
	case name == "." || name == ".." || strings.ContainsAny(name, `/\`):
		p.Add(field, domain.ProblemFormat, "must be a name, not a path")
	case strings.ContainsFunc(name, func(r rune) bool { return r != 0 && unicode.IsControl(r) }):
		p.Add(field, domain.ProblemFormat, "must not contain control characters")
	}
}

// unknownMediaType is that of bytes of which nobody said what they are.
const unknownMediaType = "application/octet-stream"

// checkMediaType returns a declared media type in canonical form and notes in p,
// under field, what is wrong with it. None declared is [unknownMediaType].
func checkMediaType(p *domain.Problems, field, declared string) string {
	if declared == "" {
		return unknownMediaType
	}
	name, parameters, err := mime.ParseMediaType(declared)
	canonical := mime.FormatMediaType(name, parameters)
	if err != nil || !strings.Contains(name, "/") || canonical == "" {
		p.Add(field, domain.ProblemFormat, "must be a media type")
		return ""
	}
	if name == "multipart/form-data" {
		p.Add(field, domain.ProblemFormat, "must be that of the file, which is the body itself and no form")
		return ""
	}
	domain.CheckText(p, field, canonical, domain.MaxShortText)
	return canonical
}
