package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/feed"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Feed is what every feed.Store must do.
func Feed(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"EV-4 the change numbers of many tasks":         feedNumbers,
		"EV-1 one state of the database":                feedReadsOneState,
		"EV-1 sessions with a later stamp":              feedSessions,
		"EV-1 the plan without its content":             feedPlan,
		"EV-1 entries with the beginning of their text": feedEntries,
		"DL-8 turns that are asked to stop":             feedInterrupts,
	})
	historyCases(t, open, map[string]func(*testing.T, *historyWorld){
		"EV-1 executions have stamps of their own": feedExecutions,
	})
}

// feeds reads what streams read, in one transaction.
func feeds(t *testing.T, s Store, read func(ctx context.Context, tx feed.ReadTx) error) {
	t.Helper()
	if err := s.Feed().InRead(t.Context(), read); err != nil {
		t.Fatalf("read: %v", err)
	}
}

func feedNumbers(t *testing.T, w *promptWorld) {
	other := w.task()
	w.enqueue(t, "q")
	got, err := w.store.Feed().Numbers(t.Context(), []string{w.taskID, other.ID, domain.NewID()})
	want := map[string]int64{w.taskID: w.state(t).Task.ChangeSeq, other.ID: 1}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("numbers: %v\n%s", err, diff)
	}
	if got, err := w.store.Feed().Numbers(t.Context(), nil); err != nil || len(got) > 0 {
		t.Errorf("of none: %v, %v", got, err)
	}
}

// What is committed while a stream reads is seen by the next reading, all of it.
func feedReadsOneState(t *testing.T, w *promptWorld) {
	feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
		before, err := tx.Task(ctx, w.taskID)
		if err != nil {
			return err
		}
		w.enqueue(t, domain.NewID())
		after, err := tx.Task(ctx, w.taskID)
		if err != nil {
			return err
		}
		entries, err := tx.QueueEntries(ctx, []string{w.sessionID})
		if after.ChangeSeq != before.ChangeSeq || len(entries) > 0 {
			t.Errorf("number went from %d to %d, with %d entries", before.ChangeSeq, after.ChangeSeq, len(entries))
		}
		return err
	})
	feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
		if _, err := tx.Task(ctx, domain.NewID()); !errors.Is(err, task.ErrNotFound) {
			t.Errorf("no task: %v", err)
		}
		return nil
	})
}

func feedSessions(t *testing.T, w *promptWorld) {
	other := w.session(w.taskID, session.KindMain, nil)
	before := w.state(t).Task.ChangeSeq
	w.enqueue(t, "q")
	feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
		all, err := tx.TaskSessions(ctx, w.taskID)
		if err != nil {
			return err
		}
		later, err := tx.SessionsAfter(ctx, w.taskID, before)
		if len(all) != 2 || all[0].ID != w.sessionID || all[1].ID != other.ID || len(later) != 1 || later[0].QueueSeq != before+1 {
			t.Errorf("sessions %+v, later %+v", all, later)
		}
		if diff := cmp.Diff(all[0], later[0]); diff != "" {
			t.Errorf("one session, twice:\n%s", diff)
		}
		return err
	})
}

func feedPlan(t *testing.T, w *promptWorld) {
	w.comment(t)
	w.save(t, "another")
	feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
		id, version, err := tx.PlanVersion(ctx, w.taskID)
		if err != nil || id != w.planID || version != 2 {
			t.Errorf("plan %s, version %d, %v", id, version, err)
		}
		got, err := tx.CommentsSnapshot(ctx, w.taskID)
		if err != nil || got.PlanID != w.planID || got.Revision != 1 || len(got.Comments) != 1 {
			t.Errorf("comments %+v, %v", got, err)
		}
		return nil
	})
	none := w.task()
	feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
		_, _, planErr := tx.PlanVersion(ctx, none.ID)
		_, commentsErr := tx.CommentsSnapshot(ctx, none.ID)
		if !errors.Is(planErr, plan.ErrNotFound) || !errors.Is(commentsErr, plan.ErrNotFound) {
			t.Errorf("no plan: %v, %v", planErr, commentsErr)
		}
		return nil
	})
}

// A preview is characters, whatever their number of bytes, and never half of one.
func feedEntries(t *testing.T, w *promptWorld) {
	other := w.session(w.taskID, session.KindMain, nil)
	texts := []string{strings.Repeat("a", feed.PreviewLength), strings.Repeat("é😀", feed.PreviewLength), "\u2028\r\nx"}
	var want []feed.Entry
	for i, text := range texts {
		r := w.request(domain.NewID())
		r.Content = text
		if i == 2 {
			r.SessionID = other.ID
		}
		d := w.admitQueued(t, r).Delivery
		preview := []rune(text)
		want = append(want, feed.Entry{
			ID: d.ID, SessionID: d.SessionID, Kind: prompt.KindQueued, ClientID: d.ClientID, State: prompt.StatePending,
			Position: d.Position, Version: 1, Size: int64(len(text)), Preview: string(preview[:min(len(preview), feed.PreviewLength)]),
		})
	}
	w.attempt(t, w.reserve(t)) // is owed no more
	feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
		got, err := tx.QueueEntries(ctx, []string{w.sessionID, other.ID})
		if diff := cmp.Diff(bySession(want[1:]), bySession(got)); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		return err
	})
}

func bySession(entries []feed.Entry) map[string][]feed.Entry {
	of := map[string][]feed.Entry{}
	for _, e := range entries {
		of[e.SessionID] = append(of[e.SessionID], e)
	}
	return of
}

func feedInterrupts(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	running := w.attempt(t, w.reserve(t))
	w.enqueue(t, "q2")
	asked := func(want int) {
		t.Helper()
		feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
			turns, err := tx.InterruptedTurns(ctx, []string{w.sessionID})
			if len(turns) != want || want > 0 && turns[0].ID != *running.TurnID {
				t.Errorf("turns %+v, want %d", turns, want)
			}
			return err
		})
	}
	asked(0)
	r := w.sendNowOf(t)
	r.Interrupt = true
	if _, _, err := w.prompts.SendNow(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	asked(1)
	if s := w.state(t); s.Sessions[0].InterruptSeq != s.Task.ChangeSeq {
		t.Errorf("stamped %d at change %d", s.Sessions[0].InterruptSeq, s.Task.ChangeSeq)
	}
	if _, err := w.sessions.EndTurn(t.Context(), w.taskID, *running.TurnID, session.TurnCancelled); err != nil {
		t.Fatal(err)
	}
	asked(0)
}

// Whatever becomes of an execution gives it the number of that change, and leaves the
// others theirs.
func feedExecutions(t *testing.T, w *historyWorld) {
	number := func() int64 {
		numbers, err := w.store.Feed().Numbers(t.Context(), []string{w.taskID})
		if err != nil {
			t.Fatal(err)
		}
		return numbers[w.taskID]
	}
	changed := func(what string, after int64, want ...string) {
		t.Helper()
		feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
			found, err := tx.ExecutionsAfter(ctx, w.taskID, after)
			var got []string
			for _, e := range found {
				got = append(got, e.ID)
				if e.Seq <= after || e.Seq > number() {
					t.Errorf("%s: stamped %d after %d", what, e.Seq, after)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s:\n%s", what, diff)
			}
			return err
		})
	}
	child := w.child(w.main)
	before := number()
	first := w.start(t, w.child(w.main), "a")
	second := w.start(t, child, "b")
	changed("started", before, first.ID, second.ID)
	before = number()
	w.say(t, w.main, user(), delegates("b"))
	changed("bound", before, second.ID)
	before = number()
	w.end(t, first)
	changed("ended", before, first.ID)
	w.end(t, second)
	w.say(t, child, works())
	before = number()
	if _, err := w.runs.Extend(t.Context(), w.taskID, second.ID); err != nil {
		t.Fatal(err)
	}
	changed("extended", before, second.ID)
	before = number()
	third := w.start(t, child, "c")
	feeds(t, w.store, func(ctx context.Context, tx feed.ReadTx) error {
		running, err := tx.RunningExecutionsOf(ctx, w.taskID)
		if len(running) != 1 || running[0].ID != third.ID || running[0].Seq != before+1 {
			t.Errorf("running %+v", running)
		}
		return err
	})
	if err := w.lifecycle().DeleteSession(t.Context(), w.taskID, child.ID); err != nil {
		t.Fatal(err)
	}
	changed("ended with its session", before+1, third.ID)
}
