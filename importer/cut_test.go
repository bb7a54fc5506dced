package importer_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// HI-30, HI-31: whatever byte each file of a transcript was cut behind, what is left
// loads without a stop, and the whole files complete it: the end is that of one load.
func TestCutFiles(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for name, rounds := range map[string]int{
		"inline-sidechain": 6, "src-experiments-claude_p": 4, "experiments-worktrees": 4, "async-agents": 4, "src-deep-manifest": 3,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, fresh func() *world) {
				w := fresh()
				w.load(t, sample(name))
				want, random := w.work(t).lasting(), rand.New(rand.NewPCG(seed, 0))
				for range rounds {
					folder := t.TempDir()
					cuts := cutFiles(t, folder, sample(name), random)
					w := fresh()
					w.load(t, folder)
					whole := t.TempDir()
					if err := os.CopyFS(whole, os.DirFS(sample(name))); err != nil {
						t.Fatal(err)
					}
					if result := w.load(t, whole); !result.Complete() {
						t.Errorf("cut at %v, the whole files: %+v", cuts, result.Problems)
					}
					if diff := cmp.Diff(want, w.work(t).lasting()); diff != "" {
						t.Errorf("cut at %v: at once (-) and in two (+):\n%s", cuts, diff)
					}
				}
			})
		})
	}
}

// cutFiles copies a folder, with every second file cut behind a random byte, and returns where.
func cutFiles(t *testing.T, to, from string, random *rand.Rand) map[string]int {
	t.Helper()
	at := map[string]int{}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" || random.IntN(2) == 0 {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		at[d.Name()] = random.IntN(len(text) + 1)
		return os.WriteFile(path, text[:at[d.Name()]], 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}
