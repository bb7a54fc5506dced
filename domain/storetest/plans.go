package storetest

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/task"
)

// Plans is what every plan.Store must do.
func Plans(t *testing.T, open Open) {
	planCases(t, open, map[string]func(*testing.T, *planWorld){
		"PC-7 saving keeps plan and comments":           planSaves,
		"PC-7 orphans go with the save, all or none":    planOrphans,
		"PC-7 orphans of a task without a plan":         planOrphansOfNothing,
		"PC-8 a plan made again is another":             planRecreated,
		"PC-9 a condition on the version":               planConditions,
		"PC-9 revert makes a new version":               planRevert,
		"PC-5 an archived task is read only":            planArchived,
		"PC-5 without a plan":                           planMissing,
		"PC-11 content is kept byte for byte":           planText,
		"API-7 revisions page, the newest first":        planRevisions,
		"PC-10 a failed publication changes nothing":    planPublication,
		"EV-1 stamps name the topics that were touched": planStamps,
	})
	comments(t, open)
	commentRaces(t, open)
	t.Run("QU-23 as the model says", func(t *testing.T) { planModel(t, newWorld(t, open)) })
}

func planSaves(t *testing.T, w *planWorld) {
	first := w.save(t, "one")
	want := plan.Plan{ID: first.ID, TaskID: w.taskID, Content: "one", Version: 1, CreatedAt: first.CreatedAt, UpdatedAt: first.CreatedAt}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("first plan (-want +got):\n%s", diff)
	}
	w.wantNotices(t, event.Change{Plan: true, Comments: true})

	before := w.create(t, first.ID, draft())
	w.notices.take()
	second := w.save(t, "two")
	want.Content, want.Version, want.UpdatedAt, want.CommentsRevision = "two", 2, second.UpdatedAt, 1
	if diff := cmp.Diff(want, second); diff != "" || !second.UpdatedAt.After(first.UpdatedAt) {
		t.Errorf("second version (-want +got):\n%s", diff)
	}
	w.wantSnapshot(t, before)
	w.wantNotices(t, event.Change{Plan: true})

	if diff := cmp.Diff(second, w.save(t, "two")); diff != "" {
		t.Errorf("the same content again (-want +got):\n%s", diff)
	}
	w.wantNotices(t)
	stored, err := w.plans.Get(t.Context(), w.taskID)
	if diff := cmp.Diff(second, stored); err != nil || diff != "" {
		t.Errorf("stored plan: %v (-want +got):\n%s", err, diff)
	}
}

func planOrphans(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	w.create(t, p.ID, draft())
	w.create(t, p.ID, draft())
	before := w.create(t, p.ID, draft())
	a, b, c := before.Comments[0].Ref(), before.Comments[1].Ref(), before.Comments[2].Ref()
	w.notices.take()

	_, err := w.plans.Save(t.Context(), plan.SaveRequest{
		TaskID: w.taskID, Content: "two", OrphanedRefs: []plan.Ref{a, {ID: b.ID, Version: 2}},
	})
	wantChanged(t, err, before)
	if stored, _ := w.plans.Get(t.Context(), w.taskID); stored.Version != 1 || stored.Content != "one" {
		t.Errorf("a refused save left %+v", stored)
	}
	w.wantSnapshot(t, before)
	w.wantNotices(t)

	saved := w.save(t, "two", a, c)
	after := before.Without([]plan.Comment{before.Comments[0], before.Comments[2]})
	if saved.Version != 2 || saved.CommentsRevision != 4 {
		t.Errorf("saved %+v, want version 2 and comments revision 4", saved)
	}
	w.wantSnapshot(t, after)
	w.wantNotices(t, event.Change{Plan: true, Comments: true})

	if again := w.save(t, "two", b); again.Version != 2 || again.CommentsRevision != 5 {
		t.Errorf("orphans alone: %+v, want version 2 and comments revision 5", again)
	}
	w.wantSnapshot(t, plan.Snapshot{TaskID: w.taskID, PlanID: p.ID, Revision: 5})
	w.wantNotices(t, event.Change{Comments: true})
}

func planOrphansOfNothing(t *testing.T, w *planWorld) {
	_, err := w.plans.Save(t.Context(), plan.SaveRequest{
		TaskID: w.taskID, Content: "one", OrphanedRefs: []plan.Ref{{ID: domain.NewID(), Version: 1}},
	})
	wantChanged(t, err, plan.Snapshot{TaskID: w.taskID})
	_, err = w.plans.Get(t.Context(), w.taskID)
	wantErr(t, err, plan.ErrNotFound)
}

func planRecreated(t *testing.T, w *planWorld) {
	d := draft()
	old := w.save(t, "one")
	w.create(t, old.ID, d)
	w.save(t, "two")
	w.notices.take()
	if err := w.plans.Delete(t.Context(), w.taskID); err != nil {
		t.Fatal(err)
	}
	w.wantNotices(t, event.Change{Plan: true, Comments: true})
	wantErr(t, w.plans.Delete(t.Context(), w.taskID), plan.ErrNotFound)
	_, err := w.plans.Comments(t.Context(), w.taskID)
	wantErr(t, err, plan.ErrNotFound)

	fresh := w.save(t, "two")
	if fresh.ID == old.ID || fresh.Version != 1 || fresh.Tag() == old.Tag() {
		t.Errorf("the new plan is %+v, the old one was %+v", fresh, old)
	}
	empty := plan.Snapshot{TaskID: w.taskID, PlanID: fresh.ID}
	w.wantSnapshot(t, empty)
	page, err := w.plans.Revisions(t.Context(), w.taskID, domain.PageRequest{})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("revisions of the new plan: %v, %v", page.Items, err)
	}
	_, _, err = w.plans.CreateComment(t.Context(), w.newComment(old.ID, d))
	wantChanged(t, err, empty) // PC-5 comes before PC-3
	_, _, err = w.plans.CreateComment(t.Context(), w.newComment(fresh.ID, d))
	wantChanged(t, err, empty) // the ledger outlives the plan
}

func planConditions(t *testing.T, w *planWorld) {
	save := func(r plan.SaveRequest) (plan.Plan, error) {
		r.TaskID = w.taskID
		return w.plans.Save(t.Context(), r)
	}
	wantPlan := func(err error, want *plan.Plan, kind domain.Kind) {
		t.Helper()
		changed, ok := errors.AsType[*plan.ChangedError](err)
		failure, _ := errors.AsType[*domain.Error](err)
		if !ok || failure.Kind != kind || failure.Code != "plan_changed" {
			t.Errorf("error is %v, want plan_changed of kind %s", err, kind)
			return
		}
		if diff := cmp.Diff(want, changed.Plan); diff != "" {
			t.Errorf("plan of the conflict (-want +got):\n%s", diff)
		}
	}
	_, err := save(plan.SaveRequest{Content: "one", ExpectedVersion: new(int64(1))})
	wantPlan(err, nil, domain.KindConflict)
	_, err = save(plan.SaveRequest{Content: "one", IfMatch: []string{"*"}})
	wantPlan(err, nil, domain.KindPrecondition)

	first := w.save(t, "one")
	second, err := save(plan.SaveRequest{Content: "two", ExpectedVersion: &first.Version})
	if err != nil {
		t.Fatal(err)
	}
	_, err = save(plan.SaveRequest{Content: "two", ExpectedVersion: &first.Version})
	wantPlan(err, &second, domain.KindConflict)
	_, err = save(plan.SaveRequest{Content: "three", IfMatch: []string{first.Tag()}})
	wantPlan(err, &second, domain.KindPrecondition)
	third, err := save(plan.SaveRequest{Content: "three", IfMatch: []string{second.Tag()}})
	if err != nil || third.Version != 3 {
		t.Errorf("save with the current tag: %+v, %v", third, err)
	}
}

func planRevert(t *testing.T, w *planWorld) {
	_, err := w.plans.Revert(t.Context(), w.taskID, 1)
	wantErr(t, err, plan.ErrNotFound)
	p := w.save(t, "one")
	w.save(t, "two")
	before := w.create(t, p.ID, draft())
	w.notices.take()
	_, err = w.plans.Revert(t.Context(), w.taskID, 3)
	wantErr(t, err, plan.ErrRevisionNotFound)
	w.wantNotices(t)

	got, err := w.plans.Revert(t.Context(), w.taskID, 1)
	if err != nil || got.ID != p.ID || got.Version != 3 || got.Content != "one" {
		t.Errorf("revert: %+v, %v, want version 3 with the first content", got, err)
	}
	w.wantSnapshot(t, before)
	w.wantNotices(t, event.Change{Plan: true})
	if got, err := w.plans.Revert(t.Context(), w.taskID, 3); err != nil || got.Version != 4 {
		t.Errorf("revert to what is current: %+v, %v, want version 4", got, err)
	}
}

func planArchived(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	d := draft()
	before := w.create(t, p.ID, d)
	ref := before.Comments[0].Ref()
	w.archive(t, true)
	w.notices.take()
	for name, mutate := range map[string]func() error{
		"save":   func() error { _, err := w.plans.Save(t.Context(), plan.SaveRequest{TaskID: w.taskID}); return err },
		"revert": func() error { _, err := w.plans.Revert(t.Context(), w.taskID, 1); return err },
		"delete": func() error { return w.plans.Delete(t.Context(), w.taskID) },
		"create": func() error { _, _, err := w.plans.CreateComment(t.Context(), w.newComment(p.ID, draft())); return err },
		"replay": func() error { _, _, err := w.plans.CreateComment(t.Context(), w.newComment(p.ID, d)); return err },
		"edit":   func() error { _, err := w.plans.EditComment(t.Context(), w.edit(p.ID, ref, "x")); return err },
		"remove": func() error { _, err := w.plans.DeleteComment(t.Context(), w.removal(p.ID, ref)); return err },
		"import": func() error {
			_, err := w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: p.ID})
			return err
		},
	} {
		if err := mutate(); !errors.Is(err, task.ErrArchived) {
			t.Errorf("%s: %v, want %v", name, err, task.ErrArchived)
		}
	}
	w.wantNotices(t)
	w.wantSnapshot(t, before)
	if _, err := w.plans.Revision(t.Context(), w.taskID, 1); err != nil {
		t.Errorf("read a revision: %v", err)
	}
	w.archive(t, false)
	w.save(t, "two")
}

func planMissing(t *testing.T, w *planWorld) {
	some := domain.NewID()
	ref := plan.Ref{ID: some, Version: 1}
	for name, call := range map[string]func() error{
		"get":       func() error { _, err := w.plans.Get(t.Context(), w.taskID); return err },
		"comments":  func() error { _, err := w.plans.Comments(t.Context(), w.taskID); return err },
		"revision":  func() error { _, err := w.plans.Revision(t.Context(), w.taskID, 1); return err },
		"revisions": func() error { _, err := w.plans.Revisions(t.Context(), w.taskID, domain.PageRequest{}); return err },
		"create":    func() error { _, _, err := w.plans.CreateComment(t.Context(), w.newComment(some, draft())); return err },
		"edit":      func() error { _, err := w.plans.EditComment(t.Context(), w.edit(some, ref, "x")); return err },
		"remove":    func() error { _, err := w.plans.DeleteComment(t.Context(), w.removal(some, ref)); return err },
		"import": func() error {
			_, err := w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: some})
			return err
		},
	} {
		if err := call(); !errors.Is(err, plan.ErrNotFound) {
			t.Errorf("%s: %v, want %v", name, err, plan.ErrNotFound)
		}
	}
	_, err := w.plans.Save(t.Context(), plan.SaveRequest{TaskID: some})
	wantErr(t, err, task.ErrNotFound)
	w.save(t, "")
	_, err = w.plans.Revision(t.Context(), w.taskID, 2)
	wantErr(t, err, plan.ErrRevisionNotFound)
}

// texts that a careless layer changes (PC-11).
var texts = []string{
	"line\r\nline\rline\n", "\ufeffmark first", "👩‍👩‍👧 \U0001F600", "\u202eright to left\u202c שלום", "e\u0301 is not é",
	"  spaces around \t ", `'; DROP TABLE "tasks"; --`, `back\slash \u0041 $1 ? ?0 ::text {}`, "\x01\x7f\u2028", "<b>&amp;</b>",
}

func planText(t *testing.T, w *planWorld) {
	for i, text := range append(texts, "", strings.Repeat("𝄞", domain.MaxPlanContent/4)) {
		saved := w.save(t, text)
		stored, err := w.plans.Get(t.Context(), w.taskID)
		kept, rerr := w.plans.Revision(t.Context(), w.taskID, saved.Version)
		if err != nil || rerr != nil || stored.Content != text || kept.Content != text {
			t.Errorf("text %d came back changed: %v, %v", i, err, rerr)
		}
		if kept.Bytes != int64(len(text)) || !kept.CreatedAt.Equal(saved.UpdatedAt) || kept.PlanID != saved.ID {
			t.Errorf("revision of text %d is of %d bytes, made %s", i, kept.Bytes, kept.CreatedAt)
		}
	}
}

func planRevisions(t *testing.T, w *planWorld) {
	for _, content := range []string{"a", "bb", "ccc", "dddd", "eeeee"} {
		w.save(t, content)
	}
	var versions []int64
	var cursors []string
	request := domain.PageRequest{Limit: 2}
	for {
		page, err := w.plans.Revisions(t.Context(), w.taskID, request)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			versions = append(versions, r.Version)
			if r.Bytes != r.Version || r.CreatedAt.IsZero() {
				t.Errorf("revision %+v, want as many bytes as its version", r)
			}
		}
		if page.NextCursor == nil {
			break
		}
		request.Cursor = *page.NextCursor
		cursors = append(cursors, request.Cursor)
	}
	if diff := cmp.Diff([]int64{5, 4, 3, 2, 1}, versions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	other := newPlanWorld(t, w.world)
	other.save(t, "another")
	for name, request := range map[string]domain.PageRequest{
		"bad":     {Cursor: "x"},
		"shape":   {Cursor: domain.EncodeCursor("plan_revisions", "1")},
		"version": {Cursor: domain.EncodeCursor("plan_revisions", "1", "x")},
		"foreign": {Cursor: cursors[0]},
		"limit":   {Limit: 201},
	} {
		_, err := other.plans.Revisions(t.Context(), other.taskID, request)
		if !errors.Is(err, domain.ErrValidation) {
			t.Errorf("%s: %v, want %v", name, err, domain.ErrValidation)
		}
	}
}

func planPublication(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	var log bytes.Buffer
	deaf := &recorder{fail: errors.New("nobody listens")}
	w.plans = plan.NewService(w.store.Plans(), w.clock, event.NewAnnouncer(deaf, slog.New(slog.NewTextHandler(&log, nil))), nil)
	s := w.create(t, p.ID, draft())
	w.wantSnapshot(t, s)
	for _, want := range []string{"task_id=" + w.taskID, "plan_id=" + p.ID, "revision=1", "comments=1"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, &log)
		}
	}
	for _, text := range []string{draft().Body, draft().SelectedText} {
		if strings.Contains(log.String(), text) {
			t.Errorf("the log holds text: %s", &log)
		}
	}
}

func planStamps(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	w.save(t, "two")
	s := w.create(t, p.ID, draft())
	if got, _ := w.tasks.Get(t.Context(), w.taskID); got.ChangeSeq != 4 || got.PlanSeq != 3 || got.CommentsSeq != 4 {
		t.Errorf("stamps are %d of %d and %d, want 3 of 4 and 4", got.PlanSeq, got.ChangeSeq, got.CommentsSeq)
	}
	_, _, err := w.plans.CreateComment(t.Context(), w.newComment(p.ID, draft()))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.plans.DeleteComment(t.Context(), w.removal(p.ID, plan.Ref{ID: s.Comments[0].ID, Version: 9}))
	wantErr(t, err, plan.ErrCommentsChanged)
	w.save(t, "two")
	if got, _ := w.tasks.Get(t.Context(), w.taskID); got.ChangeSeq != 5 || got.CommentsSeq != 5 || got.PlanSeq != 3 {
		t.Errorf("stamps are %d and %d of %d, want 3 and 5 of 5", got.PlanSeq, got.CommentsSeq, got.ChangeSeq)
	}
}
