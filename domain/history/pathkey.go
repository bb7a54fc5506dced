package history

import (
	"path"
	"strings"
)

// PathKey is the name by which changes of one file find each other (HI-8): file
// relative to workspace, with "/" separators and without "." and ".."; a file
// outside keeps its absolute form, and the workspace itself is ".". Both are
// compared as text: nothing is looked up, case and Unicode form stay. Backslashes
// separate only in a Windows workspace ("C:\…", "C:/…" or "\\server\…").
//
// A relative file is meant from the workspace. Without a workspace the key is the
// file as it was reported, made clean.
func PathKey(workspace, file string) string {
	volume := ""
	if isWindows(workspace) {
		workspace, file = slashed(workspace), slashed(file)
		volume = volumeOf(workspace)
		if file != "" && file[0] == '/' && volumeOf(file) == "" {
			file = volume + file // "\x" is on the drive of the workspace
		}
	}
	if workspace == "" {
		return path.Clean(file)
	}
	if volume == "" && workspace[0] != '/' {
		return relativeTo(path.Clean(workspace), path.Clean(file))
	}
	workspace = cleanRooted(volume, workspace)
	switch other := volumeOf(file); {
	case volume == "" && strings.HasPrefix(file, "/"):
		file = cleanRooted("", file)
	case volume != "" && other != "":
		file = cleanRooted(other, file)
	default:
		file = cleanRooted(volume, workspace+"/"+file)
	}
	return relativeTo(workspace, file)
}

// relativeTo strips dir from file on the boundary of a segment; a file that is not
// inside stays as it is. Both are clean.
func relativeTo(dir, file string) string {
	if file == dir {
		return "."
	}
	if rest, inside := strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/"); inside {
		return rest
	}
	return file
}

// cleanRooted cleans what follows the volume, which ".." does not leave.
func cleanRooted(volume, file string) string {
	return volume + path.Clean("/"+file[len(volume):])
}

func slashed(file string) string { return strings.ReplaceAll(file, `\`, "/") }

// isWindows reports whether a workspace is a path of Windows.
func isWindows(workspace string) bool {
	return strings.HasPrefix(workspace, `\\`) || hasDrive(slashed(workspace))
}

// hasDrive reports whether file, with slashes, begins like "C:/".
func hasDrive(file string) bool {
	if len(file) < 2 || file[1] != ':' || len(file) > 2 && file[2] != '/' {
		return false
	}
	letter := file[0] | 0x20
	return 'a' <= letter && letter <= 'z'
}

// volumeOf returns the "C:" or "//server/share" that a Windows path with slashes
// begins with, or nothing.
func volumeOf(file string) string {
	if hasDrive(file) {
		return file[:2]
	}
	rest, double := strings.CutPrefix(file, "//")
	if !double {
		return ""
	}
	server, rest, _ := strings.Cut(rest, "/")
	share, _, _ := strings.Cut(rest, "/")
	if server == "" || share == "" {
		return ""
	}
	return "//" + server + "/" + share
}
