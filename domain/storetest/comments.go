package storetest

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

func comments(t *testing.T, open Open) {
	planCases(t, open, map[string]func(*testing.T, *planWorld){
		"PC-1 every change adds one, a failure none":      commentRevisions,
		"PC-2 a limit leaves no trace":                    commentLimits,
		"PC-3 a create is replayed whatever became of it": commentReplays,
		"PC-3 an id belongs to one request":               commentConflicts,
		"PC-3 ids of tasks never meet":                    commentIDsPerTask,
		"PC-4 edit and delete compare and set":            commentVersions,
		"PC-5 another plan is a conflict":                 commentOtherPlan,
		"PC-6 sessions do not matter":                     commentSessions,
		"PC-11 text is kept byte for byte":                commentText,
		"PC-13 an import answers for each draft":          commentImport,
		"PC-13 an import fills the plan up":               commentImportLimit,
		"order is created_at, then id":                    commentOrder,
		"AD-6 consumption takes exactly what it is told":  commentConsumption,
		"a comment cannot pair a plan with another task":  commentForeignPlan,
	})
}

func commentRevisions(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	w.notices.take()
	want := plan.Snapshot{TaskID: w.taskID, PlanID: p.ID}
	w.wantSnapshot(t, want)

	d := draft()
	s := w.create(t, p.ID, d)
	c := s.Comments[0]
	if diff := cmp.Diff(plan.Snapshot{TaskID: w.taskID, PlanID: p.ID, Revision: 1, Comments: []plan.Comment{{
		TaskID: w.taskID, ID: d.ID, PlanID: p.ID, Body: d.Body, SelectedText: d.SelectedText,
		AnchorFrom: d.AnchorFrom, AnchorTo: d.AnchorTo, Version: 1, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt,
	}}}, s); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	w.wantSnapshot(t, s)
	s, err := w.plans.EditComment(t.Context(), w.edit(p.ID, c.Ref(), "because"))
	if err != nil {
		t.Fatal(err)
	}
	edited := c
	edited.Body, edited.Version, edited.UpdatedAt = "because", 2, s.Comments[0].UpdatedAt
	if diff := cmp.Diff([]plan.Comment{edited}, s.Comments); diff != "" || s.Revision != 2 || !edited.UpdatedAt.After(c.UpdatedAt) {
		t.Errorf("edited at revision %d (-want +got):\n%s", s.Revision, diff)
	}
	w.wantSnapshot(t, s)
	s, err = w.plans.DeleteComment(t.Context(), w.removal(p.ID, edited.Ref()))
	want.Revision = 3
	if diff := cmp.Diff(want.Revision, s.Revision); err != nil || diff != "" || len(s.Comments) != 0 {
		t.Errorf("deleted: %v, %+v", err, s)
	}
	w.wantSnapshot(t, want)
	w.wantNotices(t, event.Change{Comments: true}, event.Change{Comments: true}, event.Change{Comments: true})

	_, err = w.plans.DeleteComment(t.Context(), w.removal(p.ID, edited.Ref()))
	wantChanged(t, err, want)
	w.wantNotices(t)
}

func commentLimits(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	var drafts []plan.Draft
	for range domain.MaxCommentCount {
		drafts = append(drafts, draft())
	}
	done, err := w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: p.ID, Drafts: drafts})
	if err != nil || len(done.Snapshot.Comments) != domain.MaxCommentCount {
		t.Fatalf("import: %d comments, %v", len(done.Snapshot.Comments), err)
	}
	w.notices.take()
	late := w.newComment(p.ID, draft())
	_, _, err = w.plans.CreateComment(t.Context(), late)
	wantLimit(t, err, plan.LimitError{Limit: plan.LimitCount, Maximum: 100, Actual: 101})
	w.wantSnapshot(t, done.Snapshot)
	w.wantNotices(t)

	refs := make([]plan.Ref, 0, domain.MaxCommentCount)
	for _, c := range done.Snapshot.Comments {
		refs = append(refs, c.Ref())
	}
	w.save(t, "two", refs...)
	late.Draft.Body = "another text: the ledger knows nothing of the refusal"
	for range 3 {
		w.create(t, p.ID, sized(domain.MaxCommentSelected))
	}
	full := w.create(t, p.ID, late.Draft)
	rest := domain.MaxCommentTotal - 3*domain.MaxCommentSelected - len(late.Draft.Body) - len(late.Draft.SelectedText)
	_, _, err = w.plans.CreateComment(t.Context(), w.newComment(p.ID, sized(rest+1)))
	wantLimit(t, err, plan.LimitError{Limit: plan.LimitTotal, Maximum: 1 << 20, Actual: 1<<20 + 1})
	w.wantSnapshot(t, full)
	s := w.create(t, p.ID, sized(rest))
	_, err = w.plans.EditComment(t.Context(), w.edit(p.ID, s.Comments[4].Ref(), "why?!"))
	wantLimit(t, err, plan.LimitError{Limit: plan.LimitTotal, Maximum: 1 << 20, Actual: 1<<20 + 1})
	w.wantSnapshot(t, s)
}

// sized is a draft with so many bytes of text in all.
func sized(bytes int) plan.Draft {
	d := draft()
	d.SelectedText = strings.Repeat("x", bytes-len(d.Body))
	return d
}

func commentReplays(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	d := draft()
	s := w.create(t, p.ID, d)
	replay := func() {
		t.Helper()
		w.notices.take()
		again, replayed, err := w.plans.CreateComment(t.Context(), w.newComment(p.ID, d))
		if err != nil || !replayed {
			t.Errorf("replayed %v, %v", replayed, err)
		}
		if diff := cmp.Diff(s, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("replay (-want +got):\n%s", diff)
		}
		w.wantSnapshot(t, s)
		w.wantNotices(t)
	}
	replay()
	var err error
	if s, err = w.plans.EditComment(t.Context(), w.edit(p.ID, s.Comments[0].Ref(), "another body")); err != nil {
		t.Fatal(err)
	}
	replay()
	upper := w.newComment(strings.ToUpper(p.ID), d)
	upper.Draft.ID = strings.ToUpper(d.ID)
	if _, replayed, err := w.plans.CreateComment(t.Context(), upper); err != nil || !replayed {
		t.Errorf("with upper case ids: replayed %v, %v", replayed, err)
	}
	if s, err = w.plans.DeleteComment(t.Context(), w.removal(p.ID, s.Comments[0].Ref())); err != nil {
		t.Fatal(err)
	}
	replay()
}

func commentConflicts(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	d := draft()
	s := w.create(t, p.ID, d)
	w.notices.take()
	for name, change := range map[string]func(*plan.Draft){
		"body":          func(d *plan.Draft) { d.Body = "who?" },
		"selected text": func(d *plan.Draft) { d.SelectedText = "step two" },
		"anchor from":   func(d *plan.Draft) { d.AnchorFrom-- },
		"anchor to":     func(d *plan.Draft) { d.AnchorTo++ },
	} {
		t.Run(name, func(t *testing.T) {
			other := d
			change(&other)
			_, _, err := w.plans.CreateComment(t.Context(), w.newComment(p.ID, other))
			wantChanged(t, err, s)
		})
	}
	w.wantSnapshot(t, s)
	w.wantNotices(t)
}

func commentIDsPerTask(t *testing.T, w *planWorld) {
	d, other := draft(), newPlanWorld(t, w.world)
	here, there := w.save(t, "one"), other.save(t, "one")
	s := w.create(t, here.ID, d)
	d.Body = "another text"
	o := other.create(t, there.ID, d)
	if _, err := other.plans.DeleteComment(t.Context(), other.removal(there.ID, o.Comments[0].Ref())); err != nil {
		t.Fatal(err)
	}
	w.wantSnapshot(t, s)
}

func commentVersions(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	s := w.create(t, p.ID, draft())
	first := s.Comments[0].Ref()
	s, err := w.plans.EditComment(t.Context(), w.edit(p.ID, first, "two"))
	if err != nil {
		t.Fatal(err)
	}
	w.notices.take()
	for _, stale := range []plan.Ref{first, {ID: first.ID, Version: 3}, {ID: domain.NewID(), Version: 1}} {
		_, err := w.plans.EditComment(t.Context(), w.edit(p.ID, stale, "three"))
		wantChanged(t, err, s)
		_, err = w.plans.DeleteComment(t.Context(), w.removal(p.ID, stale))
		wantChanged(t, err, s)
	}
	w.wantSnapshot(t, s)
	w.wantNotices(t)
	_, err = w.plans.EditComment(t.Context(), w.edit(p.ID, plan.Ref{ID: "nothing", Version: 1}, "x"))
	wantErr(t, err, plan.ErrCommentNotFound)
	_, err = w.plans.DeleteComment(t.Context(), w.removal(p.ID, plan.Ref{ID: first.ID}))
	wantErr(t, err, domain.ErrValidation)
}

func commentOtherPlan(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	s := w.create(t, p.ID, draft())
	ref, other := s.Comments[0].Ref(), domain.NewID()
	_, _, err := w.plans.CreateComment(t.Context(), w.newComment(other, draft()))
	wantChanged(t, err, s)
	_, err = w.plans.EditComment(t.Context(), w.edit(other, ref, "x"))
	wantChanged(t, err, s)
	_, err = w.plans.DeleteComment(t.Context(), w.removal(other, ref))
	wantChanged(t, err, s)
	_, err = w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: other, Drafts: []plan.Draft{draft()}})
	wantChanged(t, err, s)
	w.wantSnapshot(t, s)
}

func commentSessions(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	before := w.create(t, p.ID, draft())
	main := w.session(w.taskID, session.KindMain, nil)
	w.session(w.taskID, session.KindSubagent, &main.ID)
	if _, err := w.tasks.SetPrimary(t.Context(), w.taskID, nil); err != nil {
		t.Fatal(err)
	}
	w.wantSnapshot(t, before)
}

func commentText(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	for i, text := range texts {
		d := draft()
		d.Body, d.SelectedText = text, text
		s := w.create(t, p.ID, d)
		w.wantSnapshot(t, s)
		if c := s.Comments[i]; c.Body != text || c.SelectedText != text {
			t.Errorf("text %d came back changed", i)
		}
		s, err := w.plans.EditComment(t.Context(), w.edit(p.ID, s.Comments[i].Ref(), text+text))
		if err != nil || s.Comments[i].Body != text+text {
			t.Errorf("edit of text %d: %v", i, err)
		}
		w.wantSnapshot(t, s)
	}
}

func commentImport(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	kept := draft()
	s := w.create(t, p.ID, kept)
	if _, err := w.plans.DeleteComment(t.Context(), w.removal(p.ID, s.Comments[0].Ref())); err != nil {
		t.Fatal(err)
	}
	w.notices.take()
	twin, other, blank := draft(), kept, draft()
	other.Body, blank.Body = "another text", "\u3000"
	good := draft()
	r := plan.ImportRequest{TaskID: w.taskID, PlanID: p.ID, Drafts: []plan.Draft{kept, other, blank, good, twin}}
	done, err := w.plans.Import(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.DraftResult{
		{ID: kept.ID, Verdict: plan.VerdictAlreadyPresent},
		{ID: kept.ID, Verdict: plan.VerdictConflict},
		{ID: blank.ID, Verdict: plan.VerdictRejected, Reason: plan.ReasonBlankBody},
		{ID: good.ID, Verdict: plan.VerdictCreated},
		{ID: twin.ID, Verdict: plan.VerdictCreated}, // the same text, another id
	}
	if diff := cmp.Diff(want, done.Results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if done.Snapshot.Revision != 3 || len(done.Snapshot.Comments) != 2 {
		t.Errorf("snapshot %+v, want two comments at revision 3", done.Snapshot)
	}
	w.wantSnapshot(t, done.Snapshot)
	w.wantNotices(t, event.Change{Comments: true})

	again, err := w.plans.Import(t.Context(), r)
	want[3].Verdict, want[4].Verdict = plan.VerdictAlreadyPresent, plan.VerdictAlreadyPresent
	if diff := cmp.Diff(plan.Imported{Results: want, Snapshot: done.Snapshot}, again); err != nil || diff != "" {
		t.Errorf("again: %v (-want +got):\n%s", err, diff)
	}
	w.wantNotices(t)
	if _, replayed, err := w.plans.CreateComment(t.Context(), w.newComment(p.ID, good)); err != nil || !replayed {
		t.Errorf("create of an imported draft: replayed %v, %v", replayed, err)
	}
	r.Drafts = make([]plan.Draft, 101)
	_, err = w.plans.Import(t.Context(), r)
	wantErr(t, err, domain.ErrValidation)
}

func commentImportLimit(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	drafts := make([]plan.Draft, domain.MaxRefs)
	for i := range drafts {
		drafts[i] = draft()
	}
	w.create(t, p.ID, draft())
	done, err := w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: p.ID, Drafts: drafts})
	if err != nil {
		t.Fatal(err)
	}
	last := done.Results[len(drafts)-1]
	if last.Verdict != plan.VerdictRejected || last.Reason != plan.ReasonLimit || done.Results[0].Verdict != plan.VerdictCreated {
		t.Errorf("first %+v, last %+v", done.Results[0], last)
	}
	w.wantSnapshot(t, done.Snapshot)
	retry, err := w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: p.ID, Drafts: drafts[99:]})
	if err != nil || retry.Results[0].Reason != plan.ReasonLimit {
		t.Errorf("the draft that found no room, again: %+v, %v", retry.Results, err)
	}
}

func commentOrder(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	first := w.create(t, p.ID, draft()).Comments[0].ID
	b, a := draft(), draft()
	a.ID, b.ID = "0a"+a.ID[2:], "fa"+b.ID[2:]
	done, err := w.plans.Import(t.Context(), plan.ImportRequest{TaskID: w.taskID, PlanID: p.ID, Drafts: []plan.Draft{b, a}})
	if err != nil {
		t.Fatal(err)
	}
	early := draft()
	early.ID = "00" + early.ID[2:]
	w.create(t, p.ID, early)
	var got []string
	for _, c := range w.snapshot(t).Comments {
		got = append(got, c.ID)
	}
	if diff := cmp.Diff([]string{first, a.ID, b.ID, early.ID}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if done.Snapshot.Comments[1].ID != a.ID {
		t.Error("the answer of the import is in another order")
	}
}

func commentConsumption(t *testing.T, w *planWorld) {
	p := w.save(t, "one")
	w.create(t, p.ID, draft())
	before := w.create(t, p.ID, draft())
	consume := func(comments ...plan.Comment) error {
		return w.store.Plans().InTx(t.Context(), w.taskID, func(ctx context.Context, tx plan.Tx) error {
			if _, err := tx.LockTask(ctx, w.taskID); err != nil {
				return err
			}
			return tx.ConsumeComments(ctx, comments)
		})
	}
	stale := before.Comments[1]
	stale.Version++
	if err := consume(before.Comments[0], stale); err == nil {
		t.Error("a comment of another version was consumed")
	}
	w.wantSnapshot(t, before)
	if err := consume(before.Comments[0]); err != nil {
		t.Fatal(err)
	}
	w.wantSnapshot(t, before.Without(before.Comments[:1]))
	if err := consume(before.Comments[0]); err == nil {
		t.Error("a comment was consumed twice")
	}
}

func commentForeignPlan(t *testing.T, w *planWorld) {
	w.save(t, "one")
	other := newPlanWorld(t, w.world)
	foreign := other.save(t, "one")
	c := other.create(t, foreign.ID, draft()).Comments[0]
	c.TaskID, c.ID = w.taskID, domain.NewID()
	err := w.store.Plans().InTx(t.Context(), w.taskID, func(ctx context.Context, tx plan.Tx) error {
		return tx.InsertComments(ctx, []plan.Comment{c}, nil)
	})
	if err == nil {
		t.Error("a comment of one task stands on the plan of another")
	}
}
