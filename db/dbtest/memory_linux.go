package dbtest

import "syscall"

// memoryFolder is where files are in memory.
const memoryFolder = "/dev/shm"

// hasRoom reports whether dir is in memory, with size bytes to spare.
func hasRoom(dir string, size uint64) bool {
	const tmpfs = 0x01021994 // TMPFS_MAGIC of statfs(2)
	var s syscall.Statfs_t
	return syscall.Statfs(dir, &s) == nil && s.Type == tmpfs && s.Bavail*uint64(s.Bsize) >= size //nolint:gosec // a block has a size
}
