package main

import (
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lockDatabase reserves a SQLite file for this server until unlock is called or
// the process ends, however it ends (OP-14). The lock is a file beside the
// database: other commands, which do not ask for it, work beside the server.
func lockDatabase(file string) (unlock func() error, err error) {
	lock := flock.New(realPath(file)+".lock", flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	case !locked:
		return nil, fmt.Errorf("another gatehouse serves %s: stop it, or give this one a --database of its own", file)
	}
	// The file stays: removing it would let two servers lock two files of one name.
	return lock.Unlock, nil
}

// realPath is the file that a path leads to, so that links do not open it twice. A
// file that does not exist yet is where its path says.
func realPath(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		return target
	}
	return file
}
