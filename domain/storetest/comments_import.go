package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
)

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
