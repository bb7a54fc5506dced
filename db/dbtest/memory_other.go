//go:build !linux

package dbtest

// memoryFolder is where files are in memory: there is no such folder.
const memoryFolder = ""

func hasRoom(string, uint64) bool { return false }
