package storetest

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/plan"
	"gatehouse/domain/task"
)

// planWorld is a task with the operations on its plan.
type planWorld struct {
	*world
	plans  *plan.Service
	taskID string
}

// planCases runs tests, each on a store of its own.
func planCases(t *testing.T, open Open, tests map[string]func(*testing.T, *planWorld)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newPlanWorld(t, newWorld(t, open))) })
	}
}

// newPlanWorld adds a task without a plan to w.
func newPlanWorld(t *testing.T, w *world) *planWorld {
	announce := event.NewAnnouncer(w.notices, slog.New(slog.NewTextHandler(t.Output(), nil)))
	p := &planWorld{w, plan.NewService(w.store.Plans(), w.clock, announce, nil), w.task().ID}
	w.notices.take()
	return p
}

// save saves content without a condition.
func (w *planWorld) save(t *testing.T, content string, orphans ...plan.Ref) plan.Plan {
	t.Helper()
	p, err := w.plans.Save(t.Context(), plan.SaveRequest{TaskID: w.taskID, Content: content, OrphanedRefs: orphans})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// draft is a draft with a fresh id.
func draft() plan.Draft {
	return plan.Draft{ID: domain.NewID(), Body: "why?", SelectedText: "step one", AnchorFrom: 3, AnchorTo: 11}
}

func (w *planWorld) newComment(planID string, d plan.Draft) plan.NewComment {
	return plan.NewComment{TaskID: w.taskID, PlanID: planID, Draft: d}
}

// create adds a comment and returns the snapshot it answers.
func (w *planWorld) create(t *testing.T, planID string, d plan.Draft) plan.Snapshot {
	t.Helper()
	s, replayed, err := w.plans.CreateComment(t.Context(), w.newComment(planID, d))
	if err != nil || replayed {
		t.Fatalf("create: replayed %v, %v", replayed, err)
	}
	return s
}

func (w *planWorld) edit(planID string, ref plan.Ref, body string) plan.CommentEdit {
	return plan.CommentEdit{TaskID: w.taskID, ID: ref.ID, PlanID: planID, ExpectedVersion: ref.Version, Body: body}
}

func (w *planWorld) removal(planID string, ref plan.Ref) plan.CommentRemoval {
	return plan.CommentRemoval{TaskID: w.taskID, ID: ref.ID, PlanID: planID, ExpectedVersion: ref.Version}
}

// snapshot reads the comments.
func (w *planWorld) snapshot(t *testing.T) plan.Snapshot {
	t.Helper()
	s, err := w.plans.Comments(t.Context(), w.taskID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// archive archives the task, or brings it back.
func (w *planWorld) archive(t *testing.T, archived bool) {
	t.Helper()
	if _, err := w.tasks.Update(t.Context(), w.taskID, task.Patch{Archived: &archived}); err != nil {
		t.Fatal(err)
	}
}

// wantSnapshot fails the test unless want is what is stored.
func (w *planWorld) wantSnapshot(t *testing.T, want plan.Snapshot) {
	t.Helper()
	if diff := cmp.Diff(want, w.snapshot(t), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("stored comments (-want +got):\n%s", diff)
	}
}

// wantChanged fails the test unless err is plan_comments_changed with want.
func wantChanged(t *testing.T, err error, want plan.Snapshot) {
	t.Helper()
	changed, ok := errors.AsType[*plan.CommentsChangedError](err)
	if !ok {
		t.Errorf("error is %v, want %v", err, plan.ErrCommentsChanged)
		return
	}
	if diff := cmp.Diff(want, changed.Snapshot, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("snapshot of the conflict (-want +got):\n%s", diff)
	}
}

// wantLimit fails the test unless err is want.
func wantLimit(t *testing.T, err error, want plan.LimitError) {
	t.Helper()
	got, ok := errors.AsType[*plan.LimitError](err)
	if !ok || *got != want {
		t.Errorf("error is %v, want %v", err, &want)
	}
}

// wantNotices fails the test unless exactly these changes were announced since
// the last look, with the numbers after one another (PC-10, EV-1).
func (w *planWorld) wantNotices(t *testing.T, want ...event.Change) {
	t.Helper()
	var got []event.Change
	var last int64
	for _, n := range w.notices.take() {
		if n.TaskID != w.taskID || n.Seq <= last {
			t.Errorf("notice %+v comes after number %d", n, last)
		}
		last = n.Seq
		got = append(got, n.Change)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
}
