package claudecode

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
)

// MaxLine is how long a line may be, in bytes. Real ones pass 1 MiB.
const MaxLine = 64 << 20

// keptLine is how much of the space of a long line is kept for the next one.
const keptLine = 4 << 20

// line is one line of a file.
type line struct {
	number int    // from 1
	off    int64  // of its first byte
	size   int64  // with its end
	text   []byte // valid until the next line; nil when it is too long
	ended  bool   // false for a last line without a line end
}

// lines reads f line by line (HI-31). A line over limit bytes comes without its
// text. An error ends it.
func (f *file) lines(limit int) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := bufio.NewReaderSize(io.NewSectionReader(f.at, 0, f.size), 256<<10)
		var buf []byte
		l := line{number: 1}
		for {
			l.text, l.size, l.ended, buf = nil, 0, false, buf[:0]
			err := l.read(in, &buf, limit)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, fmt.Errorf("read transcript: %w", err))
				return
			}
			if l.size > 0 && !yield(l, nil) {
				return
			}
			if err != nil {
				return
			}
			l.number++
			l.off += l.size
			if cap(buf) > keptLine {
				buf = nil
			}
		}
	}
}

// read fills l from in. buf holds the text of a line that is longer than the
// buffer of in.
func (l *line) read(in *bufio.Reader, buf *[]byte, limit int) error {
	for {
		chunk, err := in.ReadSlice('\n')
		l.size += int64(len(chunk))
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case l.size > int64(limit):
			l.text = nil
		case !full && len(*buf) == 0:
			l.text = chunk
		default:
			*buf = append(*buf, chunk...)
			l.text = *buf
		}
		if !full {
			l.ended = err == nil
			return err
		}
	}
}
