package db_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain/subagent"
)

// SC-34: a missing key of the two is made good, and the one that is there stays, of
// whatever precision it is (SC-33); so does that of executions.
func TestActivationKeepsKeys(t *testing.T) {
	const legacy = "2025-06-07T08:09:10Z"
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		for _, kept := range [][]string{
			{subagent.KeyCaptureSince},
			{subagent.KeyBackfillThrough},
			{subagent.KeyExecutionSince},
			{subagent.KeyCaptureSince, subagent.KeyBackfillThrough},
			subagent.ActivationKeys,
		} {
			t.Run(strings.Join(kept, " "), func(t *testing.T) {
				w := newContextScene(t, open(t))
				w.tell(told{created: at(1), metadata: call("c", "")})
				for _, key := range kept {
					w.setKey(key, legacy)
				}
				w.store.Activate(t.Context())
				keys := w.keys()
				for _, key := range subagent.ActivationKeys {
					if value := keys[key]; slices.Contains(kept, key) != (value == legacy) || value == "" {
						t.Errorf("%s is %q", key, value)
					}
				}
				done := slices.Contains(kept, subagent.KeyCaptureSince) && slices.Contains(kept, subagent.KeyBackfillThrough)
				if got := len(w.contexts()); (got == 1) == done {
					t.Errorf("%d contexts", got)
				}
				if h := w.health(); h.State() != subagent.ActivationComplete {
					t.Errorf("state %s", h.State())
				}
			})
		}
	})
}

// SC-34: a step that fails leaves nothing behind, a warning names it, the other step is
// done all the same, and the next start tries again. Each statement of it may fail.
func TestActivationThatFails(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		for step, statements := range map[string][]string{
			"backfill of subagent contexts": {
				"SELECT MAX(m.created_at)", "INSERT INTO task_session_subagents",
				"VALUES ('" + subagent.KeyCaptureSince, "VALUES ('" + subagent.KeyBackfillThrough,
			},
			"key of subagent executions": {"VALUES ('" + subagent.KeyExecutionSince},
		} {
			for _, statement := range statements {
				t.Run(statement, func(t *testing.T) { failActivation(t, newURL(t), step, statement) })
			}
		}
	})
}

func failActivation(t *testing.T, url, step, statement string) {
	t.Helper()
	var log bytes.Buffer
	s := dbtest.Open(t, db.Options{URL: url, Log: slog.New(slog.NewTextHandler(&log, nil))})
	w := newContextScene(t, s)
	w.tell(told{created: at(1), metadata: call("c", "")})
	dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
		if when == dbtest.After && strings.Contains(sql, statement) {
			return errors.New("injected")
		}
		return nil
	})
	s.Activate(t.Context())
	s.SetProbe(nil)
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), `step="`+step+`"`) || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("log %q", log.String())
	}
	backfillFailed := strings.HasPrefix(step, "backfill")
	want := subagent.ActivationCaptureOnly
	if backfillFailed {
		want = subagent.ActivationExecutionOnly
	}
	if h := w.health(); h.State() != want || (h.Found == nil) != backfillFailed {
		t.Errorf("%s, want %s", h.State(), want)
	}
	if got := len(w.contexts()) + len(w.keys()); backfillFailed != (got == 1) {
		t.Errorf("contexts %v, keys %v", w.contexts(), w.keys())
	}
	s.Activate(t.Context())
	if h := w.health(); h.State() != subagent.ActivationComplete || len(w.contexts()) != 1 {
		t.Errorf("the next start left %s with %d contexts", h.State(), len(w.contexts()))
	}
}

// SC-33: executions are noted only while the live schema tells them apart.
func TestExecutionKeyNeedsTheSchema(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, open func(testing.TB) *db.Store) {
		w := newContextScene(t, open(t))
		w.exec("CREATE UNIQUE INDEX too_narrow ON task_session_subagents (task_session_id, tool_call_id)")
		w.store.Activate(t.Context())
		if h := w.health(); h.State() != subagent.ActivationCaptureOnly || !h.Alarms() {
			t.Errorf("%s", h.State())
		}
		w.exec("DROP INDEX too_narrow")
		w.store.Activate(t.Context())
		if h := w.health(); h.State() != subagent.ActivationComplete || h.Alarms() {
			t.Errorf("%s", h.State())
		}
	})
}

// SC-30: processes that start at once take turns, and agree on the keys.
func TestActivationOfSeveralProcesses(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		var log lockedBuffer
		first := dbtest.Open(t, db.Options{URL: url})
		w := newContextScene(t, first)
		w.tell(told{created: at(1), metadata: call("c", "")})
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				s, err := db.Open(context.WithoutCancel(t.Context()), db.Options{URL: url, MaxConnections: 2, Log: slog.New(slog.NewTextHandler(&log, nil))})
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				s.Activate(t.Context())
			})
		}
		group.Wait()
		if len(w.keys()) != 3 || len(w.contexts()) != 1 || log.String() != "" {
			t.Errorf("%v, %d contexts, log %s", w.keys(), len(w.contexts()), log.String())
		}
	})
}

// SC-30: the activation and the migrations are guarded by one lock. While another
// process holds it neither does anything; a start that gives up waiting says so.
func TestActivationIsGuarded(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		url := newURL(t)
		var log bytes.Buffer
		holder := dbtest.Open(t, db.Options{URL: url})
		w := newContextScene(t, dbtest.Open(t, db.Options{URL: url, Log: slog.New(slog.NewTextHandler(&log, nil))}))
		err := holder.Guarded(t.Context(), func(context.Context) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			w.store.Activate(ctx)
			w.store.SetMigrations(later())
			if ran, err := w.store.Migrate(ctx); err == nil || len(ran) > 0 {
				t.Errorf("migrated %v", ran)
			}
			return nil
		})
		if keys := w.keys(); err != nil || len(keys) > 0 || !strings.Contains(log.String(), `step="lock of migrations"`) {
			t.Errorf("%v, keys %v, log %s", err, keys, log.String())
		}
		w.store.Activate(t.Context())
		if len(w.keys()) != 3 {
			t.Errorf("keys %v", w.keys())
		}
	})
}

// SC-33: the capture begins behind the insert. What it does not cover, the insert saw.
func TestCaptureSinceIsBehindTheInsert(t *testing.T) {
	dbtest.EachURL(t, func(t *testing.T, newURL func(testing.TB) string) {
		ticks := 0
		clock := func() time.Time { ticks++; return at(ticks) }
		w := newContextScene(t, dbtest.Open(t, db.Options{URL: newURL(t), Clock: clock}))
		w.tell(told{created: at(0), metadata: call("c", "")})
		w.store.Activate(t.Context())
		h := w.health()
		rows, err := w.store.ContextReader().Contexts(t.Context(), subagent.ContextFilter{SessionID: w.session}, nil, 1)
		if err != nil || len(rows) != 1 || !h.CaptureSince.After(rows[0].UpdatedAt) {
			t.Errorf("%v: written %+v, since %v", err, rows, h.CaptureSince)
		}
	})
}

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
