package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
)

// commentRaces shows what only concurrency shows (PC-12).
func commentRaces(t *testing.T, open Open) {
	planCases(t, open, map[string]func(*testing.T, *planWorld){
		"PC-12 creates race for the last places":    raceCreates,
		"PC-12 one of many edits of a version wins": raceEdits,
		"PC-3 one of equal creates makes":           raceReplays,
		"PC-12 reads do not wait for a mutation":    readsDoNotWait,
		"PC-9 one of many first saves makes a plan": raceSaves,
	})
}

const racers = 8

// race runs f for every racer at once.
func race(f func(i int)) {
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func raceCreates(t *testing.T, w *planWorld) { raceForPlaces(t, w, w.plans, w.plans) }

// raceForPlaces has the services create more comments than the plan has room for.
func raceForPlaces(t *testing.T, w *planWorld, services ...*plan.Service) {
	p := w.save(t, "one")
	const room = 3
	drafts := make([]plan.Draft, domain.MaxCommentCount-room)
	for i := range drafts {
		drafts[i] = draft()
	}
	_, err := w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: p.ID, Drafts: drafts})
	if err != nil {
		t.Fatal(err)
	}
	var created atomic.Int64
	race(func(i int) {
		_, _, err := services[i%len(services)].CreateComment(t.Context(), w.newComment(p.ID, draft()))
		switch {
		case err == nil:
			created.Add(1)
		case !errors.Is(err, plan.ErrLimit):
			t.Errorf("create: %v", err)
		}
	})
	s := w.snapshot(t)
	if created.Load() != room || len(s.Comments) != domain.MaxCommentCount || s.Revision != 1+room {
		t.Errorf("%d created, %d there, revision %d, want %d created", created.Load(), len(s.Comments), s.Revision, room)
	}
}

// PlansOfTwo shows that processes do not get in each other's way: open returns two
// stores on one database (PC-12).
func PlansOfTwo(t *testing.T, open func(tb testing.TB) (a, b Store)) {
	t.Helper()
	a, b := open(t)
	w := newPlanWorld(t, newWorld(t, func(testing.TB) Store { return a }))
	raceForPlaces(t, w, w.plans, plan.NewService(b.Plans(), w.clock, event.NewAnnouncer(nil, nil), nil))
}

func raceEdits(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	ref := w.create(t, p.ID, draft()).Comments[0].Ref()
	var won atomic.Int64
	race(func(i int) {
		s, err := w.plans.EditComment(t.Context(), w.edit(p.ID, ref, fmt.Sprintf("edit %d", i)))
		if err == nil {
			won.Add(1)
			return
		}
		changed, ok := errors.AsType[*plan.CommentsChangedError](err)
		if !ok || changed.Snapshot.Revision != 2 || changed.Snapshot.Comments[0].Version != 2 {
			t.Errorf("loser: %v, %+v, want the winner's snapshot", err, s)
		}
	})
	if s := w.snapshot(t); won.Load() != 1 || s.Revision != 2 {
		t.Errorf("%d edits won, revision %d, want one", won.Load(), s.Revision)
	}
}

func raceReplays(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	n := w.newComment(p.ID, draft())
	var created atomic.Int64
	race(func(int) {
		s, replayed, err := w.plans.CreateComment(t.Context(), n)
		if err != nil || s.Revision != 1 {
			t.Errorf("create: %+v, %v", s, err)
		}
		if !replayed {
			created.Add(1)
		}
	})
	if created.Load() != 1 {
		t.Errorf("%d creates made it, want one", created.Load())
	}
}

func raceSaves(t *testing.T, w *planWorld) {
	ids := make([]string, racers)
	race(func(i int) {
		p, err := w.plans.Save(t.Context(), plan.SaveRequest{TaskID: w.taskID, Content: strconv.Itoa(i)})
		if err != nil {
			t.Errorf("save: %v", err)
		}
		ids[i] = p.ID
	})
	p, err := w.plans.Get(t.Context(), w.taskID)
	if err != nil || p.Version != racers {
		t.Errorf("plan %+v, %v, want a version per save", p, err)
	}
	for _, id := range ids {
		if id != p.ID {
			t.Errorf("a save made plan %s, which is not %s", id, p.ID)
		}
	}
}

func readsDoNotWait(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	before := w.create(t, p.ID, draft())
	err := w.store.Plans().InTx(t.Context(), w.taskID, func(ctx context.Context, tx plan.Tx) error {
		if _, err := tx.LockTask(ctx, w.taskID); err != nil {
			return err
		}
		if err := tx.ConsumeComments(ctx, before.Comments); err != nil {
			return err
		}
		w.wantSnapshot(t, before) // a read beside the transaction that holds the lock
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.wantSnapshot(t, before.Without(before.Comments))
}
