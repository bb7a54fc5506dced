package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/domain"
	"gatehouse/domain/plan"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// promptState is all that an admission or a delivery step may touch.
type promptState struct {
	Task       task.Task
	Sessions   []session.Session
	Turns      []session.Turn
	Comments   plan.Snapshot
	Deliveries []prompt.Delivery
	Files      []prompt.Attachment
}

// state reads it.
func (w *promptWorld) state(t *testing.T) promptState {
	t.Helper()
	var s promptState
	var err error
	if s.Task, err = w.store.Tasks().Task(t.Context(), w.taskID); err != nil {
		t.Fatal(err)
	}
	if s.Sessions, err = w.store.Sessions().Sessions(t.Context(), w.taskID, nil, domain.MaxListItems); err != nil {
		t.Fatal(err)
	}
	for _, ses := range s.Sessions {
		turns, err := w.store.Sessions().Turns(t.Context(), ses.ID, nil, domain.MaxListItems)
		if err != nil {
			t.Fatal(err)
		}
		s.Turns = append(s.Turns, turns...)
	}
	s.Comments = w.snapshot(t)
	if s.Deliveries, err = w.store.Prompts().Deliveries(t.Context(), w.taskID, nil, nil, domain.MaxListItems); err != nil {
		t.Fatal(err)
	}
	s.Files = w.attachments(t)
	return s
}

// wantState fails the test unless nothing has changed since want was read, and
// nothing was announced.
func (w *promptWorld) wantState(t *testing.T, want promptState) {
	t.Helper()
	if diff := cmp.Diff(want, w.state(t), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("state has changed (-want +got):\n%s", diff)
	}
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("announced %+v", told)
	}
}
