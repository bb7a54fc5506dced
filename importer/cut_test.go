package importer_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gatehouse/importer/claudecode"
)

// HI-30, HI-31: whatever bytes the files of a transcript were cut behind, and in however
// many steps they grew since, every step loads without a stop, and the whole files
// complete it: the database is then that of one load. To look longer, or at one seed:
// go test ./importer -run CutAnywhere -rapid.checks=1000 -rapid.seed=1.
func TestCutAnywhere(t *testing.T) {
	for name := range knownTotals(t) {
		t.Run(name, func(t *testing.T) {
			texts := readFolder(t, sample(name))
			each(t, func(t *testing.T, fresh func() *world) {
				w := fresh()
				w.load(t, sample(name))
				want := w.work(t).lasting()
				rapid.Check(t, func(rt *rapid.T) {
					w, folder := fresh(), t.TempDir()
					for _, step := range drawSteps(rt, texts) {
						writeFolder(t, folder, texts, step)
						if result := w.load(t, folder); !result.Complete() {
							rt.Errorf("cut at %v: %+v", step, result.Problems)
						}
					}
					writeFolder(t, folder, texts, nil)
					if result := w.load(t, folder); !result.Complete() || len(result.Problems) > 0 {
						rt.Errorf("the whole files: %+v", result.Problems)
					}
					if diff := cmp.Diff(want, w.work(t).lasting()); diff != "" {
						rt.Errorf("at once (-) and as it grew (+):\n%s", diff)
					}
				})
			})
		})
	}
}

// cutsOfCheck is how often one check of the reader alone cuts a sample.
const cutsOfCheck = 6

// HI-30, HI-31: the same of reading alone, many more times: what a cut file gave, the
// whole one gives at the same place, and more, and no later step takes anything back.
func TestReadCutAnywhere(t *testing.T) {
	for name := range knownTotals(t) {
		t.Run(name, func(t *testing.T) {
			texts, folder := readFolder(t, sample(name)), t.TempDir()
			want := newLedger()
			readInto(t, want, sample(name))
			rapid.Check(t, func(rt *rapid.T) {
				for range cutsOfCheck {
					got := newLedger()
					for _, step := range append(drawSteps(rt, texts), nil) {
						if err := os.RemoveAll(folder); err != nil {
							t.Fatal(err)
						}
						writeFolder(t, folder, texts, step)
						readInto(t, got, folder)
					}
					if len(got.conflicts) > 0 {
						rt.Fatalf("taken back: %s", got.conflicts)
					}
					if diff := cmp.Diff(want.settled(), got.settled(), cmpopts.IgnoreUnexported(ledgerRun{})); diff != "" {
						rt.Fatalf("at once (-) and as it grew (+):\n%s", diff)
					}
				}
			})
		})
	}
}

// readInto reads all transcripts in a folder into a ledger.
func readInto(t *testing.T, l *ledger, folder string) {
	t.Helper()
	found, err := claudecode.Discover([]string{folder})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if err := claudecode.Read(t.Context(), f, l, claudecode.NewSummary(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// readFolder reads the files of a folder, by their paths in it.
func readFolder(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		texts[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// writeFolder writes files up to where a step cuts them: in front of the first byte,
// there is no file. A nil step cuts none.
func writeFolder(t *testing.T, folder string, texts map[string][]byte, step map[string]int) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(folder, name)
		if cut, ok := step[name]; ok {
			text = text[:cut]
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 {
			continue
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// drawSteps draws where the session files are cut at each of one to three steps, of
// which a later one cuts none shorter. Some files are whole from the start.
func drawSteps(t *rapid.T, texts map[string][]byte) []map[string]int {
	steps := make([]map[string]int, rapid.IntRange(1, 3).Draw(t, "steps"))
	for i := range steps {
		steps[i] = map[string]int{}
	}
	var names []string
	for name := range texts {
		if strings.HasSuffix(name, ".jsonl") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if rapid.Bool().Draw(t, "whole "+name) {
			continue
		}
		cuts := make([]int, len(steps))
		for i := range cuts {
			cuts[i] = drawCut(t, texts[name], fmt.Sprintf("cut %s %d", name, i))
		}
		slices.Sort(cuts)
		for i, cut := range cuts {
			steps[i][name] = cut
		}
	}
	return steps
}

// drawCut draws a place to cut text at: any byte, all as likely, or one beside a line
// end.
func drawCut(t *rapid.T, text []byte, label string) int {
	// A drawn number is most often a small one; a generator that begins with it is fair.
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, label), 0))
	at := random.IntN(len(text) + 1)
	if beside := rapid.IntRange(-1, 2).Draw(t, label+" beside a line end"); beside < 2 {
		if end := strings.IndexByte(string(text[at:]), '\n'); end >= 0 {
			at += end + 1 + beside
		}
	}
	return min(max(at, 0), len(text))
}
