package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/task"
)

// modelRun does the same to a task and to the model, and compares.
type modelRun struct {
	*planWorld
	t     *testing.T
	model modelPlans
	old   string // a plan id that is not current
	ids   []string
}

// planModel runs random operations against the model (QU-23). Few ids and few
// texts make sure that they meet.
func planModel(t *testing.T, w *world) {
	rapid.Check(t, func(rt *rapid.T) {
		run := &modelRun{
			planWorld: newPlanWorld(t, w), t: t, old: domain.NewID(),
			model: modelPlans{ledger: map[string]modelCreate{}},
			ids:   []string{domain.NewID(), domain.NewID(), domain.NewID(), domain.NewID(), domain.NewID(), domain.NewID(), domain.NewID()},
		}
		run.save(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"save":     run.save,
			"save 2":   run.save, // more often than the rest
			"save 3":   run.save,
			"revert":   run.revert,
			"delete":   run.delete,
			"archive":  run.toggle,
			"create":   run.create,
			"create 2": run.create,
			"create 3": run.create,
			"edit":     run.edit,
			"remove":   run.remove,
			"import":   run.load,
			"":         run.check,
		})
	})
}

func (r *modelRun) drawDraft(rt *rapid.T) plan.Draft {
	size := rapid.SampledFrom([]int{1, 4, 260_000, 260_001}).Draw(rt, "size")
	return plan.Draft{
		ID:           rapid.SampledFrom(r.ids).Draw(rt, "id"),
		Body:         rapid.SampledFrom([]string{"why?", "\ufeff\r\n é ", "who?"}).Draw(rt, "body"),
		SelectedText: strings.Repeat("x", size),
		AnchorTo:     int64(rapid.IntRange(1, 2).Draw(rt, "to")),
	}
}

// drawPlanID is mostly the current plan.
func (r *modelRun) drawPlanID(rt *rapid.T) string {
	if r.model.plan == nil || rapid.IntRange(0, 9).Draw(rt, "old plan") == 9 {
		return r.old
	}
	return r.model.plan.id
}

// drawRef is mostly a comment as it is.
func (r *modelRun) drawRef(rt *rapid.T) plan.Ref {
	ref := plan.Ref{ID: rapid.SampledFrom(r.ids).Draw(rt, "ref"), Version: 1}
	if r.model.plan != nil {
		ref.Version = max(1, r.model.plan.comments[ref.ID].version)
	}
	if rapid.IntRange(0, 9).Draw(rt, "stale") == 9 {
		ref.Version++
	}
	return ref
}

// drawExpected is mostly nothing or the current version.
func (r *modelRun) drawExpected(rt *rapid.T) int64 {
	current := int64(1)
	if r.model.plan != nil {
		current = int64(len(r.model.plan.contents))
	}
	return rapid.SampledFrom([]int64{0, 0, 0, current, current, current + 1}).Draw(rt, "expected")
}

func (r *modelRun) save(rt *rapid.T) {
	request := plan.SaveRequest{
		TaskID:  r.taskID,
		Content: rapid.SampledFrom([]string{"", "one", "two"}).Draw(rt, "content"),
	}
	expected := r.drawExpected(rt)
	if expected > 0 {
		request.ExpectedVersion = &expected
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "orphans") {
		ref := r.drawRef(rt)
		if !slices.ContainsFunc(request.OrphanedRefs, func(o plan.Ref) bool { return o.ID == ref.ID }) {
			request.OrphanedRefs = append(request.OrphanedRefs, ref)
		}
	}
	fresh := r.model.plan == nil
	saved, err := r.plans.Save(r.t.Context(), request)
	code, changed := r.model.save(request.Content, expected, request.OrphanedRefs)
	if fresh && code == modelOK {
		r.model.plan.id = saved.ID
	}
	r.settle(rt, err, code, changed)
}

func (r *modelRun) revert(rt *rapid.T) {
	version := int64(rapid.IntRange(1, 4).Draw(rt, "version"))
	_, err := r.plans.Revert(r.t.Context(), r.taskID, version)
	r.settle(rt, err, r.model.revert(version), true)
}

func (r *modelRun) delete(rt *rapid.T) {
	if r.model.plan != nil && rapid.IntRange(0, 9).Draw(rt, "really") != 9 {
		rt.Skip()
	}
	if r.model.plan != nil {
		r.old = r.model.plan.id
	}
	r.settle(rt, r.plans.Delete(r.t.Context(), r.taskID), r.model.delete(), true)
}

func (r *modelRun) toggle(rt *rapid.T) {
	if !r.model.archived && rapid.IntRange(0, 5).Draw(rt, "really") != 5 {
		rt.Skip()
	}
	r.model.archived = !r.model.archived
	_, err := r.tasks.Update(r.t.Context(), r.taskID, task.Patch{Archived: &r.model.archived})
	r.settle(rt, err, modelOK, true)
}

func (r *modelRun) create(rt *rapid.T) {
	planID, d := r.drawPlanID(rt), r.drawDraft(rt)
	s, replayed, err := r.plans.CreateComment(r.t.Context(), r.newComment(planID, d))
	code, again := r.model.create(planID, d)
	if replayed != again {
		rt.Fatalf("replayed is %v, want %v", replayed, again)
	}
	r.settle(rt, err, code, !again)
	r.answered(rt, err, s)
}

func (r *modelRun) edit(rt *rapid.T) {
	planID, ref := r.drawPlanID(rt), r.drawRef(rt)
	body := strings.Repeat("y", rapid.SampledFrom([]int{1, 2, 65_536}).Draw(rt, "size"))
	s, err := r.plans.EditComment(r.t.Context(), r.planWorld.edit(planID, ref, body))
	r.settle(rt, err, r.model.edit(planID, ref, body), true)
	r.answered(rt, err, s)
}

func (r *modelRun) remove(rt *rapid.T) {
	planID, ref := r.drawPlanID(rt), r.drawRef(rt)
	s, err := r.plans.DeleteComment(r.t.Context(), r.removal(planID, ref))
	r.settle(rt, err, r.model.remove(planID, ref), true)
	r.answered(rt, err, s)
}

func (r *modelRun) load(rt *rapid.T) {
	request := plan.ImportRequest{TaskID: r.taskID, PlanID: r.drawPlanID(rt)}
	for range rapid.IntRange(0, 5).Draw(rt, "drafts") {
		request.Drafts = append(request.Drafts, r.drawDraft(rt))
	}
	done, err := r.plans.Import(r.t.Context(), request)
	code, verdicts := r.model.load(request.PlanID, request.Drafts)
	var got []plan.Verdict
	for _, result := range done.Results {
		got = append(got, result.Verdict)
	}
	if diff := cmp.Diff(verdicts, got); diff != "" {
		rt.Fatalf("verdicts (-want +got):\n%s", diff)
	}
	r.settle(rt, err, code, slices.Contains(verdicts, plan.VerdictCreated))
	r.answered(rt, err, done.Snapshot)
}

// settle compares an answer with the model's, and what was announced with
// whether anything changed (PC-10).
func (r *modelRun) settle(rt *rapid.T, err error, code string, changed bool) {
	got := modelOK
	if failure, ok := errors.AsType[*domain.Error](err); ok {
		got = failure.Code
	} else if err != nil {
		got = fmt.Sprint("no failure of the domain: ", err)
	}
	if got != code {
		rt.Fatalf("answer is %q, want %q", got, code)
	}
	want := 0
	if changed && code == modelOK {
		want = 1
	}
	if notices := r.notices.take(); len(notices) != want {
		rt.Fatalf("announced %+v, want %d", notices, want)
	}
	if conflict, ok := errors.AsType[*plan.CommentsChangedError](err); ok && r.model.plan != nil {
		r.compare(rt, "conflict", conflict.Snapshot)
	}
}

func (r *modelRun) answered(rt *rapid.T, err error, s plan.Snapshot) {
	if err == nil {
		r.compare(rt, "answer", s)
	}
}

var modelDiff = cmp.Options{cmpopts.IgnoreFields(plan.Comment{}, "CreatedAt", "UpdatedAt"), cmpopts.EquateEmpty()}

func (r *modelRun) compare(rt *rapid.T, what string, s plan.Snapshot) {
	if diff := cmp.Diff(r.model.snapshot(r.taskID), s, modelDiff); diff != "" {
		rt.Fatalf("%s (-want +got):\n%.4000s", what, diff)
	}
}

// check compares what is stored with the model.
func (r *modelRun) check(rt *rapid.T) {
	p, err := r.plans.Get(r.t.Context(), r.taskID)
	if r.model.plan == nil {
		if !errors.Is(err, plan.ErrNotFound) {
			rt.Fatalf("plan is %+v, %v, want none", p, err)
		}
		return
	}
	contents := r.model.plan.contents
	if err != nil || p.ID != r.model.plan.id || p.Version != int64(len(contents)) || p.Content != contents[len(contents)-1] {
		rt.Fatalf("plan is %+v, %v, want version %d", p, err, len(contents))
	}
	s, err := r.plans.Comments(r.t.Context(), r.taskID)
	if err != nil || p.CommentsRevision != s.Revision {
		rt.Fatalf("revision is %d and %d, %v", p.CommentsRevision, s.Revision, err)
	}
	r.compare(rt, "stored comments", s)
	revision, err := r.plans.Revision(r.t.Context(), r.taskID, int64(len(contents)))
	if err != nil || revision.Content != p.Content {
		rt.Fatalf("last revision is %+v, %v", revision, err)
	}
}
