package claudecode

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// file is a file that is read from its start, and here and there. What is added
// behind size while it is read is left for the next time.
type file struct {
	path string
	at   io.ReaderAt
	size int64
}

// opener opens a file; the second value closes it.
type opener func(path string) (*file, func() error, error)

func openFile(path string) (*file, func() error, error) {
	f, err := os.Open(path) //nolint:gosec // to read the files that were asked for is what it is for
	if err != nil {
		return nil, nil, fmt.Errorf("open transcript: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open transcript: %w", err), f.Close())
	}
	return &file{path, f, info.Size()}, f.Close, nil
}

// ref is the place of one JSON value.
type ref struct {
	file *file
	off  int64
	size int
	line int // that it is on, from 1
}

// place is where r stands, for people.
func (r ref) place() Place { return Place{r.file.path, r.line} }

var errChanged = errors.New("read transcript: the file was changed while it was read")

// record reads the value again.
func (r ref) record() (*record, error) {
	text := make([]byte, r.size)
	if _, err := r.file.at.ReadAt(text, r.off); err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	rec := &record{at: r}
	if err := rec.decode(text); err != nil {
		return nil, errChanged // the cause may hold text of the file
	}
	return rec.unwrap(), nil
}
