package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/prompt"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
)

// sendNowRefusals is what send now refuses, and that a refusal leaves no trace (DL-8).
func sendNowRefusals(t *testing.T, open Open) {
	promptCases(t, open, map[string]func(*testing.T, *promptWorld){
		"DL-8 forms of a selection":                     sendNowForms,
		"DL-8 send now to a session that takes nothing": sendNowUnavailable,
		"DL-8 send now of what is reserved":             sendNowReserved,
		"DL-8 send now to another queue":                sendNowChanged,
		"DL-8 send now of what cannot be selected":      sendNowSelection,
		"DL-8 send now of more than a prompt may hold":  sendNowTooLarge,
		"DL-8 AD-10 send now of too many attachments":   sendNowAttachments,
	})
}

// notSent is a request that must fail and leave no trace.
func (w *promptWorld) notSent(t *testing.T, r prompt.SendNow) error {
	t.Helper()
	w.notices.take()
	before := w.state(t)
	d, token, err := w.prompts.SendNow(t.Context(), r)
	if err == nil || token != "" {
		t.Errorf("sent %+v, %v", d, err)
	}
	w.wantState(t, before)
	return err
}

// sendRefused is the same, with the reason.
func (w *promptWorld) sendRefused(t *testing.T, r prompt.SendNow, want error) {
	t.Helper()
	wantErr(t, w.notSent(t, r), want)
}

func sendNowForms(t *testing.T, w *promptWorld) {
	made := w.three(t)
	w.sendRefused(t, w.now(t, "7"), domain.ErrValidation)
	w.sendRefused(t, w.now(t, made[0].ID, made[1].ID, strings.ToUpper(made[0].ID)), domain.ErrValidation)
	r := w.now(t)
	r.EntryIDs = []string{}
	w.sendRefused(t, r, prompt.ErrQueueEmpty)
	r.TaskID = w.task().ID
	w.sendRefused(t, r, session.ErrNotFound)
}

func sendNowUnavailable(t *testing.T, w *promptWorld) {
	w.enqueue(t, "q1")
	busy := func(r prompt.SendNow, reason string) {
		t.Helper()
		err := w.notSent(t, r)
		if e, ok := errors.AsType[*session.UnavailableError](err); !ok || e.Reason != reason || e.SessionID != w.sessionID {
			t.Errorf("answer is %+v", e)
		}
	}
	w.setState(t, w.sessionID, session.StateRunning)
	busy(w.now(t), session.ReasonBusy)
	w.setState(t, w.sessionID, session.StateIdle)
	turn, _, err := w.sessions.StartTurn(t.Context(), w.taskID, w.sessionID, "")
	if err != nil {
		t.Fatal(err)
	}
	w.setState(t, w.sessionID, session.StateIdle) // though a turn runs
	busy(w.now(t), session.ReasonBusy)
	if _, err := w.sessions.EndTurn(t.Context(), w.taskID, turn.ID, session.TurnCompleted); err != nil {
		t.Fatal(err)
	}
	r := w.now(t)
	for _, archived := range []bool{true, false} {
		if _, err := w.tasks.Update(t.Context(), w.taskID, task.Patch{Archived: &archived}); err != nil {
			t.Fatal(err)
		}
		if archived {
			w.sendRefused(t, r, task.ErrArchived)
		}
	}
	w.setState(t, w.sessionID, session.StateFailed)
	r.Interrupt = true
	busy(r, session.ReasonTerminal)
}

func sendNowReserved(t *testing.T, w *promptWorld) {
	made := w.three(t)
	stale := w.now(t, made[0].ID)
	held := w.reserve(t)
	w.sendRefused(t, stale, prompt.ErrSendNowConflict)
	w.sendRefused(t, w.now(t, made[1].ID, held.Delivery.ID), prompt.ErrSendNowConflict)
	runner := w.now(t, made[1].ID)
	runner.Reserve = true
	w.sendRefused(t, runner, prompt.ErrSendNowConflict)
	d := w.send(t) // a person's, of what is pending
	w.wantEntries(t, d.ID, made[0].ID, made[1].ID, made[2].ID)
	if got := w.stored(t, held.Delivery.ID); got.State != prompt.StateReserved {
		t.Errorf("the reserved one is %+v", got)
	}
	w.nothing(t)
	w.attempt(t, held)
}

func sendNowChanged(t *testing.T, w *promptWorld) {
	r := w.now(t)
	w.enqueue(t, "q1")
	err := w.notSent(t, r)
	e, ok := errors.AsType[*prompt.QueueChangedError](err)
	if !ok {
		t.Fatalf("error is %v", err)
	}
	if diff := cmp.Diff(w.queue(t), e.Queue, jsonEqual); diff != "" {
		t.Errorf("answered queue (-want +got):\n%s", diff)
	}
	r.ExpectedRevision += 2
	w.sendRefused(t, r, prompt.ErrQueueChanged)
}

func sendNowSelection(t *testing.T, w *promptWorld) {
	w.sendRefused(t, w.now(t), prompt.ErrQueueEmpty)
	made := w.three(t)
	d := w.send(t, made[0].ID)
	w.sendRefused(t, w.now(t, d.ID), prompt.ErrEntryNotEditable)
	w.sendRefused(t, w.now(t, made[0].ID, made[1].ID), prompt.ErrEntryNotEditable)
	w.sendRefused(t, w.now(t, made[1].ID, domain.NewID()), prompt.ErrEntryNotFound)
	if _, err := w.remove(t.Context(), made[1]); err != nil {
		t.Fatal(err)
	}
	w.sendRefused(t, w.now(t, made[1].ID), prompt.ErrEntryNotFound)
	other := *w
	other.sessionID = w.session(w.taskID, session.KindMain, nil).ID
	w.sendRefused(t, w.now(t, other.enqueue(t, "elsewhere").ID), prompt.ErrEntryNotFound)
	w.send(t)
	w.sendRefused(t, w.now(t), prompt.ErrQueueEmpty) // combinations are not combined again
}

func sendNowTooLarge(t *testing.T, w *promptWorld) {
	half := domain.MaxPromptContent / 2
	for i, size := range []int{half, half - 1} {
		r := w.request(clientID(i))
		r.Content = strings.Repeat("x", size)
		w.admitQueued(t, r)
	}
	err := w.notSent(t, w.now(t))
	if e, ok := errors.AsType[*prompt.TooLargeError](err); !ok || e.Actual != domain.MaxPromptContent+1 || e.Maximum != domain.MaxPromptContent {
		t.Errorf("answer is %+v", e)
	}
}

func sendNowAttachments(t *testing.T, w *promptWorld) {
	var staged []prompt.Attachment
	for i := range domain.MaxAttachments + 1 {
		staged = append(staged, w.stage(t, clientID(i)))
	}
	first := w.admitQueued(t, w.with("q1", staged[1:]...)).Delivery
	w.admitQueued(t, w.with("q2", staged[0]))
	err := w.notSent(t, w.now(t))
	if e, ok := errors.AsType[*domain.ValidationError](err); !ok || e.Problems[0].Field != "/body/entry_ids" {
		t.Errorf("error is %v", err)
	}
	if d := w.send(t, first.ID); len(d.Attachments) != domain.MaxAttachments {
		t.Errorf("sent %+v", d)
	}
}
