package history

import (
	"context"

	"gatehouse/domain"
)

// DiffsMode says whether changes come with their texts (HI-24).
type DiffsMode string

// The modes. The zero mode is inline.
const (
	DiffsInline DiffsMode = "inline"
	DiffsNone   DiffsMode = "none"
)

// smallTexts is how many bytes of text come with a change at once: most changes have
// fewer, and looking each of them up again costs a quarter of a page. It is no more
// than the paths of a change may have, so that a page of texts that are left out
// stays in proportion.
const smallTexts = 4 << 10

// small is what [ReadTx.Work] is asked for in this mode.
func (m DiffsMode) small() int64 {
	if m == DiffsNone {
		return -1
	}
	return smallTexts
}

func (m DiffsMode) check(p *domain.Problems) {
	if m != "" && m != DiffsInline && m != DiffsNone {
		p.Add("/query/diffs", domain.ProblemEnum, "must be inline or none")
	}
}

// fillTexts gives changes, in the order in which they are shown, their texts, as far
// as one page carries them: behind the first that does not fit, and for DiffsNone,
// they are marked as left out (HI-24).
func fillTexts(ctx context.Context, tx ReadTx, mode DiffsMode, changes []*SourcedChange) error {
	var ids []string
	left, full := int64(domain.MaxPageDiffText), mode == DiffsNone
	for _, c := range changes {
		if c.DiffMode == Unsupported {
			continue
		}
		left -= c.TextBytes
		if full = full || left < 0; full {
			c.DiffOmitted = true
			c.BeforeContent, c.AfterContent, c.Patch = nil, nil, nil
			continue
		}
		if c.BeforeContent != nil || c.Patch != nil {
			continue // they came with it
		}
		ids = append(ids, c.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	texts, err := tx.Texts(ctx, ids)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if t, ok := texts[c.ID]; ok {
			c.BeforeContent, c.AfterContent, c.Patch = t.Before, t.After, t.Patch
		}
	}
	return nil
}

// pointers returns where the changes of a list stand.
func pointers(to []*SourcedChange, changes []SourcedChange) []*SourcedChange {
	for i := range changes {
		to = append(to, &changes[i])
	}
	return to
}
