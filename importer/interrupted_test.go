package importer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/session"
)

// HI-30: a load that was cut short before any statement is completed by the next one.
func TestInterruptedLoad(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		const name = "experiments-worktrees"
		interrupt(t, open, 8, "", sample(name))
	})
}

// HI-30: so is one that adds to what an earlier one found of files that grew since: a run
// that had ended takes in what its subagent said behind that, whenever it comes to it.
func TestInterruptedGrowth(t *testing.T) {
	const name, agent = "src-experiments-claude_p", "29ccd257-68b1-427f-ae5f-6524b7cb6f20/subagents/agent-a2271d1.jsonl"
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(sample(name))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, agent))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, agent), text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		interrupt(t, open, 12, folder, sample(name))
	})
}

// interrupt loads path again and again, each time cut short before another statement and
// then once more, and compares the end with that of one load. Behind before, if not
// empty, it is loaded each time. rounds is how many statements are tried.
func interrupt(t *testing.T, open func(testing.TB) *db.Store, rounds int64, before, path string) {
	t.Helper()
	clean := newWorld(t, open(t))
	clean.load(t, path)
	want := clean.work(t).lasting()

	count, cancel := atomic.Int64{}, func() {}
	at := int64(-1)
	store := func() *world {
		s := open(t)
		w := newWorld(t, s)
		if before != "" {
			w.load(t, before)
		}
		count.Store(0)
		dbtest.Probe(t, s, func(when dbtest.When, _ string) error {
			if when == dbtest.Before && count.Add(1) == at {
				cancel()
			}
			return nil
		})
		return w
	}
	w := store()
	w.load(t, path)
	all := count.Load()
	for i := range rounds {
		var ctx context.Context
		at = -1
		w := store()
		ctx, cancel = context.WithCancel(t.Context())
		at = all*i/rounds + 1
		_, err := w.tryLoad(ctx, path)
		if cancel(); err == nil && count.Load() >= at && at < all-1 {
			t.Fatalf("nothing told of the end of the context before statement %d of %d", at, all)
		}
		at = -1
		rest := w.load(t, path)
		if diff := cmp.Diff(want, w.work(t).lasting()); diff != "" {
			t.Errorf("cut short before statement %d of %d, then %+v (-at once +in two):\n%s", all*i/rounds+1, all, rest.Added, diff)
		}
	}
}

// stale is what a load knows of sessions that another one ended meanwhile.
type stale struct{ *session.Service }

// Get says that every subagent works.
func (s stale) Get(ctx context.Context, id string) (session.Session, error) {
	of, err := s.Service.Get(ctx, id)
	if of.Kind == session.KindSubagent {
		of.State = session.StateRunning
	}
	return of, err
}

// A load that began on less of a file than another one, and comes behind it, takes
// nothing back and is no failure.
func TestOvertakenLoad(t *testing.T) {
	each(t, func(t *testing.T, fresh func() *world) {
		const name, main = "experiments-worktrees", "ef958aa1-0e93-49f0-bb71-150f63befcd1.jsonl"
		folder := t.TempDir()
		if err := os.CopyFS(folder, os.DirFS(sample(name))); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(folder, main))
		if err != nil {
			t.Fatal(err)
		}
		cut := text[:strings.Index(string(text), `"totalToolUseCount"`)] // in the first result
		if err := os.WriteFile(filepath.Join(folder, main), cut, 0o600); err != nil {
			t.Fatal(err)
		}
		w := fresh()
		w.load(t, sample(name))
		want := w.work(t)
		w.services.Sessions = stale{w.sessions}
		if result := w.load(t, folder); !result.Complete() {
			t.Errorf("problems %v", result.Problems)
		}
		if diff := cmp.Diff(want.lasting(), w.work(t).lasting()); diff != "" {
			t.Errorf("taken back (-want +got):\n%s", diff)
		}
	})
}
