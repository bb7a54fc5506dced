package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lookAtSQLite opens a file without changing it or making one beside it.
//
// A database in WAL mode has its log and an index of the log beside it while somebody
// has it open, and after a crash. Then the index is read where a server keeps it, and
// worked out in memory where nobody does. Without a log the file is all there is, and
// is read as one that nobody changes.
func lookAtSQLite(ctx context.Context, path string, opts Options) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no database %s: the first start of a server makes it; --database names another", path)
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	params := readerParams()
	params.Set("mode", "ro")
	switch hasLog, err := exists(path + "-wal"); {
	case err != nil:
		return nil, err
	case hasLog:
		params.Set("readonly_shm", "1")
	default:
		params.Set("immutable", "1")
	}
	p, err := sqlitePool(path, 2, params)
	if err != nil {
		return nil, err
	}
	d := newSQLite(path, opts)
	s := d.store(p, p)
	if err := d.connect(ctx, p); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
