package db_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/domain"
)

// fill writes more than there is room for: it takes the room itself, on the connection
// that it has.
func fill(ctx context.Context, t *db.Tx) error {
	pages := 0
	if err := t.NewRaw("PRAGMA page_count").Scan(ctx, &pages); err != nil {
		return err
	}
	return both(plain("PRAGMA max_page_count = "+strconv.Itoa(pages+20)),
		plain("INSERT INTO rows (id, filler) VALUES ('fill', zeroblob(1000000))"))(ctx, t)
}

// QU-2, QU-26: a full disk ends the transaction around the savepoints. Nobody is told
// success for what is gone: all run again, each alone, and only who needs the room
// is told that there is none.
func TestFullDiskUndoesTheBatch(t *testing.T) {
	s := batchStore(t)
	commits, undone := 0, true
	dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
		switch {
		case sql == db.CommitBatchSQL:
			commits++
		case sql == db.RollbackToSQL && when == dbtest.After:
			undone = false // alone
		}
		return nil
	})
	runs := 0
	told := together(t, s, both(put("a"), counted(&runs)), fill, put("c"))
	if runs != 2 || !undone || commits != 0 {
		t.Errorf("%d runs, %d commits: the batch was not undone", runs, commits)
	}
	if told[0] != nil || told[2] != nil || !errors.Is(told[1], domain.ErrStorageFull) {
		t.Errorf("told %v, want success for all but the second", told)
	}
	if diff := cmp.Diff([]string{"a", "c"}, stored(t, s)); diff != "" {
		t.Error(diff)
	}
	if err := errors.Join(together(t, s, put("d"), put("e"))...); err != nil || commits == 0 {
		t.Errorf("afterwards %v, %d commits", err, commits)
	}
}

// counted counts how often a member runs.
func counted(n *int) work {
	return func(context.Context, *db.Tx) error { *n++; return nil }
}

// QU-2: a commit that fails is nobody's success, nor anybody's refusal: it may rest on
// what is undone.
func TestFailedCommitUndoesTheBatch(t *testing.T) {
	s := batchStore(t)
	fault := errors.New("fault")
	dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
		if when == dbtest.Before && sql == db.CommitBatchSQL {
			return fault
		}
		return nil
	})
	taken := errors.New("taken")
	runs := 0
	second := func(ctx context.Context, tx *db.Tx) error {
		n := 0
		if err := tx.Batch(ctx, db.Query(func(scan func(...any) error) error { return scan(&n) }, "SELECT count(*) FROM rows")); err != nil {
			return err
		}
		if runs++; n > 0 && runs == 1 {
			return taken // by the first one, whose row is undone
		}
		return put("b")(ctx, tx)
	}
	if err := errors.Join(together(t, s, put("a"), second, put("c"))...); err != nil {
		t.Error(err)
	}
	if runs != 2 {
		t.Errorf("who was refused ran %d times, want 2", runs)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, stored(t, s)); diff != "" {
		t.Error(diff)
	}
}

// Who runs again because of others takes no place in a batch, also where one is free:
// of two who came before the commit failed, one leaves when the other has begun.
func TestWhoMustBeAloneJoinsNoBatch(t *testing.T) {
	s := batchStore(t)
	ctx, leave := context.WithCancel(t.Context())
	c := newConvoy(t, s)
	savepoints, failed := 0, false
	dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
		switch {
		case when == dbtest.Before && sql == db.SavepointSQL:
			savepoints++
		case when == dbtest.Before && sql == db.CommitBatchSQL && !failed:
			failed, c.waiting = true, 0
			c.join(func() error {
				return s.InTx(t.Context(), "", both(put("c"), func(context.Context, *db.Tx) error {
					leave()
					c.waiting = 2 // the two of the batch that failed
					c.await()
					return nil
				}))
			})
			c.join(func() error { return s.InTx(ctx, "", put("d")) })
			return errors.New("fault")
		}
		return nil
	})
	c.join(func() error { return s.InTx(t.Context(), "", put("a")) })
	c.join(func() error { return s.InTx(t.Context(), "", put("b")) })
	c.run()
	if diff := cmp.Diff([]string{"a", "b", "c"}, stored(t, s)); diff != "" || savepoints != 3 {
		t.Errorf("%d savepoints, want one each for the first three, %s", savepoints, diff)
	}
}

// A commit that fails for a member, and fails again when it is alone, is told to that
// one: here a reference that is checked at the end, as the schema has none.
func TestDeferredCheckFailsOnlyItsOwn(t *testing.T) {
	s := batchStore(t)
	broken := both(plain("PRAGMA defer_foreign_keys = ON"), plain("INSERT INTO rows VALUES ('b', 'nobody', NULL)"))
	told := together(t, s, put("a"), broken, put("c"))
	if told[0] != nil || told[1] == nil || told[2] != nil {
		t.Errorf("told %v, want success for all but the second", told)
	}
	if diff := cmp.Diff([]string{"a", "c"}, stored(t, s)); diff != "" {
		t.Error(diff)
	}
}

// A check that waits for the commit would make a batch fail for one of its members.
func TestSchemaDefersNoCheck(t *testing.T) {
	s := dbtest.Open(t, db.Options{URL: dbtest.SQLiteURL(t)})
	var tables []string
	err := s.Read(t.Context(), func(ctx context.Context, q db.Querier) error {
		return q.NewRaw("SELECT sql FROM sqlite_schema WHERE type = 'table'").Scan(ctx, &tables)
	})
	if err != nil || len(tables) == 0 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, sql := range tables {
		if strings.Contains(strings.ToUpper(sql), "DEFERR") {
			t.Errorf("a check is deferred in %s", sql)
		}
	}
}

// QU-22: an error before and after every statement of a batch in turn. Who was told
// success is stored, who was told a failure is not, and neighbours succeed.
func TestFaultAtEveryStatementOfABatch(t *testing.T) {
	fault := errors.New("fault")
	for point, over := 1, false; !over; point++ {
		s := batchStore(t)
		var mu sync.Mutex
		seen := 0
		answered := "" // the statement that took effect although its answer was a fault
		c := newConvoy(t, s)
		dbtest.Probe(t, s, func(when dbtest.When, sql string) error {
			mu.Lock()
			defer mu.Unlock()
			if when == dbtest.After && sql == db.CommitBatchSQL {
				return nil // no answer is lost inside of a process
			}
			if seen++; seen == point {
				if when == dbtest.After {
					answered = sql
				}
				return fault
			}
			return nil
		})
		told := []*error{}
		for _, id := range []string{"a", "b", "c"} {
			told = append(told, c.join(func() error { return s.InTx(t.Context(), id, put(id)) }))
		}
		c.run()
		s.SetProbe(nil)
		over = seen < point
		got := stored(t, s)
		for i, id := range []string{"a", "b", "c"} {
			kept := strings.Contains(strings.Join(got, ""), id)
			if lost := answered == db.CommitSQL && *told[i] != nil; kept != (*told[i] == nil) && !lost {
				t.Errorf("point %d: %s was told %v, stored: %v", point, id, *told[i], kept)
			}
			if *told[i] != nil && !errors.Is(*told[i], fault) {
				t.Errorf("point %d: %s was told %v", point, id, *told[i])
			}
		}
		if len(got) < 2 {
			t.Errorf("point %d: only %v are stored", point, got)
		}
	}
}
