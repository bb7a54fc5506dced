package claudecode

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"iter"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reporter is told of what is passed over.
type reporter func(line int, reason Reason)

// records reads the objects of f in file order, whatever state it is in (HI-31).
func (f *file) records(limit int, report reporter) iter.Seq2[*record, error] {
	return func(yield func(*record, error) bool) {
		for l, err := range f.lines(limit) {
			if err != nil {
				yield(nil, err)
				return
			}
			if l.text == nil {
				report(l.number, ReasonTooLong)
				continue
			}
			for rec := range f.objects(l, report) {
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

// hashSeed makes hashes of UUIDs, for this process only.
var hashSeed = maphash.MakeSeed()

// uuids is a set of UUIDs, by their hashes.
type uuids map[uint64]struct{}

func (u uuids) has(id string) bool {
	_, has := u[maphash.String(hashSeed, id)]
	return has
}

// add reports whether id is new.
func (u uuids) add(id string) bool {
	h := maphash.String(hashSeed, id)
	_, had := u[h]
	u[h] = struct{}{}
	return !had
}

// once passes over records that were there before: a line that was copied, or that
// the file of a subagent and the mirror in the main file both have.
func once(records iter.Seq2[*record, error]) iter.Seq2[*record, error] {
	return func(yield func(*record, error) bool) {
		seen := uuids{}
		for rec, err := range records {
			if err == nil && rec.UUID != "" && !seen.add(rec.UUID) {
				continue
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// byteOrderMark begins files that some editors have saved.
var byteOrderMark = []byte("\uFEFF")

// trimmed is l without the space around it, and where in the file that begins.
func (l line) trimmed() (off int64, text []byte) {
	text = l.text
	if l.off == 0 {
		text = bytes.TrimPrefix(text, byteOrderMark)
	}
	text = bytes.TrimLeftFunc(text, unicode.IsSpace)
	return l.off + int64(len(l.text)-len(text)), bytes.TrimRightFunc(text, unicode.IsSpace)
}

// objects reads the objects of one line: one, as a rule.
func (f *file) objects(l line, report reporter) iter.Seq[*record] {
	return func(yield func(*record) bool) {
		start, text := l.trimmed()
		if len(text) == 0 {
			return
		}
		if !utf8.Valid(text) {
			report(l.number, ReasonUTF8)
		}
		if text[0] == '{' {
			rec := &record{at: ref{f, start, len(text), l.number}}
			if rec.decode(text) == nil {
				yield(rec)
				return
			}
		}
		f.glued(l, start, text, report, yield)
	}
}

// glued reads the values of a line that is not one good object: several objects,
// of which the last may be torn, or a torn one with a good one behind it.
func (f *file) glued(l line, start int64, text []byte, report reporter, yield func(*record) bool) {
	for pos := 0; pos < len(text); {
		value, size, err := nextValue(text[pos:])
		if err != nil {
			reason := ReasonMalformed
			if errors.Is(err, io.ErrUnexpectedEOF) {
				reason = ReasonTorn
			}
			skip := behindTear(text[pos:])
			if skip > 0 {
				reason = ReasonTorn
			}
			report(l.number, reason)
			if skip == 0 {
				return
			}
			pos += skip
			continue
		}
		rec := &record{at: ref{f, start + int64(pos+size-len(value)), len(value), l.number}}
		switch {
		case value.Kind() != '{':
			report(l.number, ReasonNoObject)
		case rec.decode(value) != nil:
			report(l.number, ReasonShape)
		case !yield(rec):
			return
		}
		pos += size
		pos += len(text[pos:]) - len(bytes.TrimLeft(text[pos:], " \t\r\v\f"))
	}
}

// nextValue returns the first JSON value of text and where it ends.
func nextValue(text []byte) (jsontext.Value, int, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), lenient)
	value, err := dec.ReadValue()
	if err != nil {
		return nil, 0, err
	}
	return value, int(dec.InputOffset()), nil
}

// maxTears is how many places are tried to find a good object behind a torn one.
const maxTears = 64

// behindTear returns where in text, behind its start, an object begins that fills
// the rest and looks like a line of a transcript; 0 when there is none.
func behindTear(text []byte) int {
	pos := 0
	for range maxTears {
		next := bytes.Index(text[pos+1:], []byte(`{"`))
		if next < 0 {
			return 0
		}
		pos += 1 + next
		var rec record
		if json.Unmarshal(text[pos:], &rec, lenient) == nil && (rec.speaks() || silent[rec.Type]) {
			return pos
		}
	}
	return 0
}
