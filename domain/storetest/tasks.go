package storetest

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// Tasks is what every task.Store must do.
func Tasks(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *world){
		"API-8 create is idempotent by id":          taskCreateReplays,
		"API-8 one of concurrent creates makes":     taskCreateRaces,
		"create names every problem":                taskCreateValidates,
		"a patch that changes nothing is no change": taskPatchNothing,
		"an archived task is unarchived first":      taskArchived,
		"lists page in order":                       taskList,
		"API-23 a primary is a session of the task": taskPrimary,
		"EV-1 every change takes a number":          taskStamps,
	} {
		t.Run(name, func(t *testing.T) { test(t, newWorld(t, open)) })
	}
}

func taskCreateReplays(t *testing.T, w *world) {
	n := task.New{ID: domain.NewID(), WorkspaceID: w.workspaceID, Title: "a", Description: "b"}
	first, created, err := w.tasks.Create(t.Context(), n)
	if err != nil || !created {
		t.Fatalf("first create: created %v, %v", created, err)
	}
	stored, err := w.tasks.Get(t.Context(), first.ID)
	if diff := cmp.Diff(first, stored); err != nil || diff != "" {
		t.Errorf("stored task differs (-answered +stored): %v\n%s", err, diff)
	}
	if _, err := w.tasks.Update(t.Context(), first.ID, task.Patch{Title: new("c")}); err != nil {
		t.Fatal(err)
	}
	again, created, err := w.tasks.Create(t.Context(), n)
	if err != nil || created || again.Title != "c" {
		t.Errorf("replay: created %v, title %q, %v; want the task as it is now", created, again.Title, err)
	}
	n.Title = "other"
	_, _, err = w.tasks.Create(t.Context(), n)
	wantErr(t, err, task.ErrConflict)
}

func taskCreateRaces(t *testing.T, w *world) {
	n := task.New{ID: domain.NewID(), WorkspaceID: w.workspaceID, Title: "a"}
	var made atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, created, err := w.tasks.Create(t.Context(), n)
			if err != nil {
				t.Errorf("create: %v", err)
			}
			if created {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d creates made the task, want 1", made.Load())
	}
}

func taskCreateValidates(t *testing.T, w *world) {
	_, _, err := w.tasks.Create(t.Context(), task.New{
		WorkspaceID: w.workspaceID, Title: " \u2003", Description: strings.Repeat("é", domain.MaxDescription/2) + "x",
	})
	want := "validation_failed: /body/title blank, /body/description too_long"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %v", err, want)
	}
	_, _, err = w.tasks.Create(t.Context(), task.New{WorkspaceID: w.workspaceID, Title: strings.Repeat("é", domain.MaxShortText/2)})
	if err != nil {
		t.Errorf("a title of just the limit: %v", err)
	}
}

func taskPatchNothing(t *testing.T, w *world) {
	made := w.task()
	w.notices.take()
	same, err := w.tasks.Update(t.Context(), made.ID, task.Patch{Title: &made.Title})
	if diff := cmp.Diff(made, same); err != nil || diff != "" {
		t.Errorf("task changed: %v\n%s", err, diff)
	}
	if n := w.notices.take(); len(n) > 0 {
		t.Errorf("told of %+v", n)
	}
}

func taskArchived(t *testing.T, w *world) {
	made := w.task()
	if _, err := w.tasks.Update(t.Context(), made.ID, task.Patch{Archived: new(true)}); err != nil {
		t.Fatal(err)
	}
	_, err := w.tasks.Update(t.Context(), made.ID, task.Patch{Title: new("b")})
	wantErr(t, err, task.ErrArchived)
	_, err = w.tasks.SetPrimary(t.Context(), made.ID, nil)
	wantErr(t, err, task.ErrArchived)
	_, _, err = w.sessions.Create(t.Context(), session.New{TaskID: made.ID, Kind: session.KindMain})
	wantErr(t, err, task.ErrArchived)
	got, err := w.tasks.Update(t.Context(), made.ID, task.Patch{Title: new("b"), Archived: new(false)})
	if err != nil || got.Title != "b" || got.Archived {
		t.Errorf("unarchived is %+v, %v", got, err)
	}
}

func taskList(t *testing.T, w *world) {
	var want []string
	for range 5 {
		want = append(want, w.task().ID)
	}
	if _, err := w.tasks.Update(t.Context(), want[2], task.Patch{Archived: new(true)}); err != nil {
		t.Fatal(err)
	}
	got := listed(t, 2, func(r domain.PageRequest) (domain.Page[task.Task], error) {
		return w.tasks.List(t.Context(), task.Filter{WorkspaceID: &w.workspaceID}, r)
	}, func(item task.Task) string { return item.ID })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages differ:\n%s", diff)
	}
	page, err := w.tasks.List(t.Context(), task.Filter{Archived: new(true)}, domain.PageRequest{})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != want[2] {
		t.Errorf("archived tasks are %+v, %v", page.Items, err)
	}
	page, err = w.tasks.List(t.Context(), task.Filter{WorkspaceID: new(domain.NewID())}, domain.PageRequest{})
	if err != nil || page.Items == nil || len(page.Items) != 0 {
		t.Errorf("tasks of no workspace are %+v, %v", page.Items, err)
	}
	_, err = w.tasks.List(t.Context(), task.Filter{}, domain.PageRequest{Cursor: domain.EncodeCursor("tokens", "a", "b")})
	wantErr(t, err, domain.ErrValidation)
}

func taskPrimary(t *testing.T, w *world) {
	made, other := w.task(), w.task()
	first, second := w.session(made.ID, session.KindMain, nil), w.session(made.ID, session.KindMain, nil)
	foreign := w.session(other.ID, session.KindMain, nil)
	got, err := w.tasks.Get(t.Context(), made.ID)
	if err != nil || got.PrimarySessionID == nil || *got.PrimarySessionID != first.ID {
		t.Fatalf("primary is %v, %v, want the first main session", got.PrimarySessionID, err)
	}
	_, err = w.tasks.SetPrimary(t.Context(), made.ID, &foreign.ID)
	wantErr(t, err, session.ErrNotFound)
	got, err = w.tasks.SetPrimary(t.Context(), made.ID, &second.ID)
	if err != nil || *got.PrimarySessionID != second.ID {
		t.Errorf("primary is %v, %v", got.PrimarySessionID, err)
	}
	got, err = w.tasks.SetPrimary(t.Context(), made.ID, nil)
	if err != nil || got.PrimarySessionID != nil {
		t.Errorf("primary is %v, %v, want none", got.PrimarySessionID, err)
	}
}

func taskStamps(t *testing.T, w *world) {
	made := w.task()
	changed, err := w.tasks.Update(t.Context(), made.ID, task.Patch{Description: new("b")})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := w.tasks.Get(t.Context(), made.ID)
	if err != nil || stored.ChangeSeq != 2 || stored.TaskSeq != 2 || stored.PlanSeq != 0 {
		t.Errorf("stamps are %+v, %v", stored, err)
	}
	if diff := cmp.Diff(changed, stored); diff != "" {
		t.Errorf("stored task differs:\n%s", diff)
	}
	want := []event.Notice{
		{TaskID: made.ID, Seq: 1, Change: event.Change{Task: true}},
		{TaskID: made.ID, Seq: 2, Change: event.Change{Task: true}},
	}
	if diff := cmp.Diff(want, w.notices.take()); diff != "" {
		t.Errorf("told differs:\n%s", diff)
	}
}
