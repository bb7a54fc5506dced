package history

import (
	"math"
	"slices"
	"strings"

	"gatehouse/domain"
)

// MergedChange is everything that happened to one file. Texts are there for their
// mode only: the two contents for SNAPSHOT, Patch for PATCH, the reason for
// UNSUPPORTED.
type MergedChange struct {
	PathKey               string
	Path                  string  // as last reported
	OldPath               *string // the earliest, as reported; nil when the file is back there
	ChangeType            ChangeType
	Deleted               bool // whether the last operation deleted it
	DiffMode              DiffMode
	BeforeContent         *string // the earliest
	AfterContent          *string // the latest
	Patch                 *string // at most 256 KiB, whole lines
	PatchTruncated        bool
	PartiallyUnsupported  bool    // whether an operation has no text while others do
	DiffUnavailableReason *string // the last
	LinesAdded            *int64  // the sum of what is known; nil when nothing is
	LinesDeleted          *int64  // likewise
	Sources               []Source
	DiffOmitted           bool // whether the texts are left out because an operation came without its own (HI-24)
}

// merge makes the entry of a group.
func (p *group) merge() MergedChange {
	last := p.operations[len(p.operations)-1].change
	m := MergedChange{PathKey: p.key, Path: last.Path, Deleted: last.ChangeType == Deleted}
	for _, op := range p.operations {
		c := op.change
		m.LinesAdded = addLines(m.LinesAdded, c.LinesAdded)
		m.LinesDeleted = addLines(m.LinesDeleted, c.LinesDeleted)
		m.ChangeType = nextType(m.ChangeType, c.ChangeType)
		m.PatchTruncated = m.PatchTruncated || c.DiffMode == Patch && c.PatchTruncated
		m.DiffOmitted = m.DiffOmitted || c.DiffOmitted
		if s := (Source{c.SourceType, c.SourceSessionID}); !slices.Contains(m.Sources, s) {
			m.Sources = append(m.Sources, s)
		}
	}
	m.OldPath = p.oldPath()
	p.mergeTexts(&m)
	return m
}

// nextType is rule 2: CREATED once is CREATED for good, a rename outlasts the
// modifications behind it, else the last operation says.
func nextType(so, next ChangeType) ChangeType {
	if so == Created || so == Renamed && next == Modified {
		return so
	}
	return next
}

// oldPath is where the first rename began, unless the file is there again.
func (p *group) oldPath() *string {
	for _, op := range p.operations {
		c := op.change
		if c.ChangeType != Renamed || c.OldPathKey == nil {
			continue
		}
		if *c.OldPathKey == p.key {
			return nil
		}
		return c.OldPath
	}
	return nil
}

// mergeTexts chooses the mode and fills in its texts (rules 4 to 6).
func (p *group) mergeTexts(m *MergedChange) {
	var readable []*SourcedChange
	m.DiffMode = Unsupported
	for _, op := range p.operations {
		switch op.change.DiffMode {
		case Unsupported:
			m.DiffUnavailableReason = op.change.DiffUnavailableReason
			continue
		case Patch:
			m.DiffMode = Patch
		case Snapshot:
			if m.DiffMode != Patch {
				m.DiffMode = Snapshot
			}
		}
		readable = append(readable, op.change)
	}
	if len(readable) == 0 {
		return
	}
	m.DiffUnavailableReason = nil
	m.PartiallyUnsupported = len(readable) < len(p.operations)
	switch {
	case m.DiffOmitted:
	case m.DiffMode == Snapshot:
		m.BeforeContent = readable[0].BeforeContent
		m.AfterContent = readable[len(readable)-1].AfterContent
	default:
		patch, cut := joinPatches(readable)
		m.Patch, m.PatchTruncated = &patch, m.PatchTruncated || cut
	}
}

// texts are the changes whose texts the entry of a group is made of: where nothing but
// snapshots can be read, the first and the last of them (rule 4). A file that is edited
// often costs a page no more than one that is edited twice (HI-24).
func (p *group) texts() []*SourcedChange {
	var readable []*SourcedChange
	patched := false
	for _, op := range p.operations {
		if op.change.DiffMode != Unsupported {
			readable = append(readable, op.change)
			patched = patched || op.change.DiffMode == Patch
		}
	}
	if patched || len(readable) < 3 {
		return readable
	}
	return []*SourcedChange{readable[0], readable[len(readable)-1]}
}

// joinPatches puts the differences of changes one behind the other (rule 5), as
// much of them as a patch may have, and reports whether it had to cut. It looks no
// further than that: a long session may hold far more than is shown.
func joinPatches(changes []*SourcedChange) (string, bool) {
	var joined strings.Builder
	for _, c := range changes {
		part := value(c.Patch)
		if c.DiffMode == Snapshot {
			hunks := diffTexts(value(c.BeforeContent), value(c.AfterContent)).hunks(domain.MaxPatch)
			part = strings.TrimSuffix(hunks, "\n")
		}
		if part == "" {
			continue
		}
		if joined.Len() > 0 {
			joined.WriteByte('\n')
		}
		joined.WriteString(part)
		if joined.Len() > domain.MaxPatch {
			break
		}
	}
	return cutPatch(joined.String())
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// addLines adds counts, of which nil is one that is not known. It stops at the
// largest number: counts may be a reporter's and of any size.
func addLines(sum, n *int64) *int64 {
	if sum == nil || n == nil {
		if sum == nil && n != nil {
			first := *n
			return &first
		}
		return sum
	}
	total := int64(math.MaxInt64)
	if *n <= math.MaxInt64-*sum {
		total = *sum + *n
	}
	return &total
}
