package importer_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/importer"
)

// allWorks is what all samples leave in an empty database.
func allWorks(t *testing.T, url string) []work {
	t.Helper()
	return lasting(newWorld(t, dbtest.Open(t, db.Options{URL: url})).works(t))
}

func lasting(all []work) []work {
	for i := range all {
		all[i] = all[i].lasting()
	}
	return all
}

// HI-30: two loads of the same files at once do not disturb one another: neither fails,
// nothing is there twice, and what either says it added is all there is.
func TestLoadAtOnce(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		clean := newWorld(t, dbtest.Open(t, db.Options{URL: newURL(t)}))
		whole := clean.load(t, samples).Added
		want := lasting(clean.works(t))
		for range 2 {
			url := newURL(t)
			newWorld(t, dbtest.Open(t, db.Options{URL: url})) // the first start is its own
			var loads sync.WaitGroup
			var results [2]*importer.Result
			for i := range results {
				w := newWorld(t, dbtest.Open(t, db.Options{URL: url}))
				loads.Go(func() {
					var err error
					if results[i], err = w.tryLoad(t.Context(), samples); err != nil || !results[i].Complete() || len(results[i].Problems) > 0 {
						t.Errorf("%v, problems %v", err, results[i].Problems)
					}
				})
			}
			loads.Wait()
			a, b := results[0].Added, results[1].Added
			if a.Tasks+b.Tasks != whole.Tasks || a.Sessions+b.Sessions != whole.Sessions || a.Messages+b.Messages != whole.Messages ||
				a.FileChanges+b.FileChanges != whole.FileChanges || a.Executions+b.Executions != whole.Executions {
				t.Errorf("added %+v and %+v of %+v", a, b, whole)
			}
			if diff := cmp.Diff(want, allWorks(t, url)); diff != "" {
				t.Errorf("one load (-) and two at once (+):\n%s", diff)
			}
		}
	})
}

// HI-30: so do two processes, whose first start this is, and one that is killed is
// completed by the next.
func TestImportProcesses(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gatehouse")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "gatehouse/cmd/gatehouse").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	start := func(t *testing.T, url string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program, "import", "claude-code", "--json", samples)
		cmd.Env = append(os.Environ(), "GATEHOUSE_DATABASE="+url)
		return cmd
	}
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		if out, err := start(t, url).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := allWorks(t, url)
		t.Run("two at once", func(t *testing.T) {
			url := newURL(t)
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					if out, err := start(t, url).CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
			both.Wait()
			if diff := cmp.Diff(want, allWorks(t, url)); diff != "" {
				t.Errorf("one process (-) and two (+):\n%s", diff)
			}
		})
		t.Run("killed", func(t *testing.T) {
			url := newURL(t)
			for behind := range 5 { // so many files, each time more
				kill(t, start(t, url), behind)
			}
			out, err := start(t, url).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if diff := cmp.Diff(want, allWorks(t, url)); diff != "" {
				t.Errorf("one process (-) and several that were killed (+):\n%s", diff)
			}
		})
	})
}

// kill starts cmd and kills it as soon as it tells of so many files.
func kill(t *testing.T, cmd *exec.Cmd, files int) {
	t.Helper()
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, told := bufio.NewScanner(errs), 0
	for told < files && lines.Scan() {
		if strings.Contains(lines.Text(), ".jsonl: ") {
			told++
		}
	}
	if told < files {
		t.Fatalf("told of %d files only: %s", told, out.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it says that it was killed
}
