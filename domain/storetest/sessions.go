package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// Sessions is what every session.Store must do.
func Sessions(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *world){
		"API-8 create is idempotent by id":           sessionCreateReplays,
		"API-23 a parent is a session of the task":   sessionParents,
		"create names every problem":                 sessionCreateValidates,
		"terminal is final":                          sessionTerminalIsFinal,
		"lists page in order":                        sessionLists,
		"EV-1 auto_run is news of the queue":         sessionStamps,
		"API-8 a turn is idempotent by id":           turnReplays,
		"the last turn's end makes the session wait": turnsSettle,
		"a deleted running turn has ended":           turnDeleted,
		"a terminal session starts no turn":          turnOnTerminal,
		"a turn that has ended stays as it is":       turnEndsOnce,
		"API-22 a turn of another task is no turn":   turnOfAnotherTask,
	} {
		t.Run(name, func(t *testing.T) { test(t, newWorld(t, open)) })
	}
}

func sessionCreateReplays(t *testing.T, w *world) {
	made := w.task()
	n := session.New{
		ID: domain.NewID(), TaskID: made.ID, Kind: session.KindMain, Title: "main",
		AgentType: new("coder"), WorkspacePath: new("/src"),
	}
	first, created, err := w.sessions.Create(t.Context(), n)
	if err != nil || !created || first.State != session.StateCreated || !first.AutoRun {
		t.Fatalf("first create: created %v, %+v, %v", created, first, err)
	}
	again, created, err := w.sessions.Create(t.Context(), n)
	if err != nil || created || again.IncarnationID != first.IncarnationID {
		t.Errorf("replay: created %v, %+v, %v", created, again, err)
	}
	n.Title = "other"
	_, _, err = w.sessions.Create(t.Context(), n)
	wantErr(t, err, session.ErrConflict)
	n.TaskID, n.Title = w.task().ID, "main"
	_, _, err = w.sessions.Create(t.Context(), n)
	wantErr(t, err, session.ErrConflict)
	stored, err := w.sessions.Get(t.Context(), first.ID)
	if diff := cmp.Diff(first, stored); err != nil || diff != "" {
		t.Errorf("stored session differs: %v\n%s", err, diff)
	}
}

func sessionParents(t *testing.T, w *world) {
	made, other := w.task(), w.task()
	foreign := w.session(other.ID, session.KindMain, nil)
	_, _, err := w.sessions.Create(t.Context(), session.New{TaskID: made.ID, Kind: session.KindSubagent, ParentSessionID: &foreign.ID})
	wantErr(t, err, session.ErrNotFound)
	child := w.session(other.ID, session.KindSubagent, &foreign.ID)
	if got := *child.ParentSessionID; got != foreign.ID {
		t.Errorf("parent is %s", got)
	}
}

func sessionCreateValidates(t *testing.T, w *world) {
	made := w.task()
	for want, n := range map[string]session.New{
		"/body/parent_session_id required":      {Kind: session.KindSideTask},
		"/body/parent_session_id contradictory": {Kind: session.KindMain, ParentSessionID: &made.ID},
		"/body/title too_long":                  {Kind: session.KindMain, Title: strings.Repeat("x", domain.MaxShortText+1)},
		"/body/agent_type nul":                  {Kind: session.KindMain, AgentType: new("a\x00")},
		"/body/workspace_path too_long":         {Kind: session.KindMain, WorkspacePath: new(strings.Repeat("x", domain.MaxPath+1))},
	} {
		n.TaskID = made.ID
		if _, _, err := w.sessions.Create(t.Context(), n); err == nil || err.Error() != "validation_failed: "+want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func sessionTerminalIsFinal(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	for _, state := range []session.State{session.StateIdle, session.StateRunning, session.StateCompleted} {
		if _, err := w.sessions.Update(t.Context(), made.TaskID, made.ID, session.Patch{State: &state}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := w.sessions.Update(t.Context(), made.TaskID, made.ID, session.Patch{State: new(session.StateIdle)})
	want := session.UnavailableError{SessionID: made.ID, State: session.StateCompleted, Reason: session.ReasonTerminal}
	if got, ok := errors.AsType[*session.UnavailableError](err); !ok || *got != want {
		t.Errorf("error is %v, want %+v", err, want)
	}
	got, err := w.sessions.Update(t.Context(), made.TaskID, made.ID, session.Patch{State: new(session.StateCompleted), Title: new("done")})
	if err != nil || got.Title != "done" {
		t.Errorf("a title on a terminal session: %+v, %v", got, err)
	}
}

func sessionLists(t *testing.T, w *world) {
	made := w.task()
	var want []string
	for range 3 {
		want = append(want, w.session(made.ID, session.KindMain, nil).ID)
	}
	first, err := w.sessions.List(t.Context(), made.ID, domain.PageRequest{Limit: 2})
	if err != nil || first.NextCursor == nil {
		t.Fatalf("first page: %+v, %v", first, err)
	}
	second, err := w.sessions.List(t.Context(), made.ID, domain.PageRequest{Limit: 2, Cursor: *first.NextCursor})
	if err != nil || second.NextCursor != nil {
		t.Fatalf("second page: %+v, %v", second, err)
	}
	var got []string
	for _, s := range append(first.Items, second.Items...) {
		got = append(got, s.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages differ:\n%s", diff)
	}
	_, err = w.sessions.List(t.Context(), w.task().ID, domain.PageRequest{Cursor: *first.NextCursor})
	wantErr(t, err, domain.ErrValidation)
}

func sessionStamps(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	if _, err := w.sessions.Update(t.Context(), made.TaskID, made.ID, session.Patch{AutoRun: new(false)}); err != nil {
		t.Fatal(err)
	}
	got, err := w.sessions.Get(t.Context(), made.ID)
	if err != nil || got.QueueSeq != 3 || got.MessagesSeq != 2 || got.AutoRun {
		t.Errorf("session is %+v, %v, want the queue stamped 3", got, err)
	}
}

func turnReplays(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	id := domain.NewID()
	first, created, err := w.sessions.StartTurn(t.Context(), made.TaskID, made.ID, id)
	if err != nil || !created {
		t.Fatalf("first start: %+v, created %v, %v", first, created, err)
	}
	again, created, err := w.sessions.StartTurn(t.Context(), made.TaskID, made.ID, id)
	if diff := cmp.Diff(first, again); err != nil || created || diff != "" {
		t.Errorf("replay: created %v, %v\n%s", created, err, diff)
	}
	other := w.session(made.TaskID, session.KindMain, nil)
	_, _, err = w.sessions.StartTurn(t.Context(), made.TaskID, other.ID, id)
	wantErr(t, err, session.ErrTurnConflict)
}

func (w *world) turn(s session.Session) session.Turn {
	w.t.Helper()
	turn, _, err := w.sessions.StartTurn(w.t.Context(), s.TaskID, s.ID, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return turn
}

func (w *world) wantState(id string, want session.State) {
	w.t.Helper()
	if got, err := w.sessions.Get(w.t.Context(), id); err != nil || got.State != want {
		w.t.Errorf("session is %s, %v, want %s", got.State, err, want)
	}
}

func turnsSettle(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	first, second := w.turn(made), w.turn(made)
	w.wantState(made.ID, session.StateRunning)
	if _, err := w.sessions.EndTurn(t.Context(), made.TaskID, first.ID, session.TurnFailed); err != nil {
		t.Fatal(err)
	}
	w.wantState(made.ID, session.StateRunning)
	if _, err := w.sessions.EndTurn(t.Context(), made.TaskID, second.ID, session.TurnCompleted); err != nil {
		t.Fatal(err)
	}
	w.wantState(made.ID, session.StateWaitingForInput)
	page, err := w.sessions.Turns(t.Context(), made.ID, domain.PageRequest{})
	if err != nil || len(page.Items) != 2 || page.Items[0].State != session.TurnFailed || page.Items[1].EndedAt == nil {
		t.Errorf("turns are %+v, %v", page.Items, err)
	}
}

func turnDeleted(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	turn := w.turn(made)
	if err := w.sessions.DeleteTurn(t.Context(), made.TaskID, turn.ID); err != nil {
		t.Fatal(err)
	}
	w.wantState(made.ID, session.StateWaitingForInput)
	wantErr(t, w.sessions.DeleteTurn(t.Context(), made.TaskID, turn.ID), session.ErrTurnNotFound)
}

func turnOnTerminal(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	if _, err := w.sessions.Update(t.Context(), made.TaskID, made.ID, session.Patch{State: new(session.StateFailed)}); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.sessions.StartTurn(t.Context(), made.TaskID, made.ID, "")
	wantErr(t, err, session.ErrUnavailable)
}

func turnEndsOnce(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	turn := w.turn(made)
	first, err := w.sessions.EndTurn(t.Context(), made.TaskID, turn.ID, session.TurnCompleted)
	if err != nil {
		t.Fatal(err)
	}
	w.notices.take()
	again, err := w.sessions.EndTurn(t.Context(), made.TaskID, turn.ID, session.TurnFailed)
	if diff := cmp.Diff(first, again); err != nil || diff != "" {
		t.Errorf("turn changed: %v\n%s", err, diff)
	}
	if n := w.notices.take(); len(n) > 0 {
		t.Errorf("told of %+v", n)
	}
}

func turnOfAnotherTask(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	turn := w.turn(made)
	_, err := w.sessions.EndTurn(t.Context(), w.task().ID, turn.ID, session.TurnCompleted)
	wantErr(t, err, session.ErrTurnNotFound)
}
