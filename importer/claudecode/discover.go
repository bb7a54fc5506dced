package claudecode

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Transcript is the file of a session, with the files of its subagents.
type Transcript struct {
	Path   string
	Size   int64 // bytes, with the files of the subagents in its own folder
	agents []agentFile
	closed []string // folders of subagents that the system did not let be looked into
}

// agentFile is the file of a subagent.
type agentFile struct {
	id   string // the name of the agent
	path string
	size int64
	meta agentMeta
}

// agentMeta is what newer versions write beside the file of a subagent.
type agentMeta struct {
	AgentType   string `json:"agentType"`
	Description string `json:"description"`
	ToolUseID   string `json:"toolUseId"`
}

const (
	extension   = ".jsonl"
	agentPrefix = "agent-"
	agentFolder = "subagents"
	compacting  = "agent-acompact-" // files of these are the program's own business
	maxMeta     = 1 << 20           // bytes of a file beside that are worth a look
)

var agentID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,128}$`)

// Discover finds the session files at paths, each a file or a folder to search. The
// files of subagents are found with their session: by themselves they are passed
// over. The result has each file once, in the order of paths and of names. A path that
// leads nowhere is an error. What the system does not let be looked into below a path is
// in the result, to be named when it is read; what is gone meanwhile is not.
func Discover(paths []string) ([]Transcript, error) {
	var found []Transcript
	seen := map[string]bool{}
	for _, root := range paths {
		root = followed(root)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil && path == root:
				return err
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				found = append(found, Transcript{Path: path})
				return nil //nolint:nilerr // it is named when it is read
			case d.IsDir() && d.Name() == agentFolder && path != root:
				return fs.SkipDir
			case d.IsDir(), seen[path], !isSession(d.Name()):
				return nil
			}
			seen[path] = true
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				found = append(found, transcriptAt(path, info.Size()))
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find transcripts: %w", err)
		}
	}
	return found, nil
}

// followed is where a path leads that was asked for and is a link. Links within a
// folder are not followed.
func followed(path string) string {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func isSession(name string) bool {
	return strings.HasSuffix(name, extension) && !strings.HasPrefix(name, agentPrefix) && name != "journal.jsonl"
}

// transcriptAt is the transcript of the session file at path.
func transcriptAt(path string, size int64) Transcript {
	t := Transcript{Path: path, Size: size}
	folder := filepath.Join(strings.TrimSuffix(path, extension), agentFolder)
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			t.closed = append(t.closed, path)
			return nil //nolint:nilerr // it is named when the transcript is read
		case !d.Type().IsRegular():
			return nil
		}
		id := strings.TrimSuffix(strings.TrimPrefix(d.Name(), agentPrefix), extension)
		if agentPrefix+id+extension != d.Name() || strings.HasPrefix(d.Name(), compacting) || !agentID.MatchString(id) {
			return nil
		}
		if info, err := d.Info(); err == nil {
			t.Size += info.Size()
			t.agents = append(t.agents, agentFile{id, path, info.Size(), metaOf(path)})
		}
		return nil
	})
	slices.SortFunc(t.agents, func(a, b agentFile) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.path, b.path))
	})
	return t
}

// metaOf reads what stands beside the file of a subagent. Without it, or when it
// cannot be read, nothing more is known of the subagent.
func metaOf(path string) (meta agentMeta) {
	path = strings.TrimSuffix(path, extension) + ".meta.json"
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxMeta {
		return agentMeta{}
	}
	text, err := os.ReadFile(path) //nolint:gosec // beside a file that was asked for
	if err != nil || json.Unmarshal(text, &meta, lenient) != nil {
		return agentMeta{}
	}
	return meta
}
