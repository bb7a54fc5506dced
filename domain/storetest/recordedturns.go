package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/domain"
	"gatehouse/domain/session"
)

// RecordedTurns is what every session.Store must do with turns of a record (HI-30).
func RecordedTurns(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *world){
		"HI-30 turns are kept as they were":      recordedTurns,
		"HI-30 a record that went on is kept":    recordedTurnGoesOn,
		"API-8 a turn of another session is not": recordedTurnConflicts,
		"turns are judged on their own":          recordedTurnsValidate,
	} {
		t.Run(name, func(t *testing.T) { test(t, newWorld(t, open)) })
	}
}

// recorded is a turn that began at a minute and, unless it runs, ended at another.
func recorded(state session.TurnState, from, to int) session.RecordedTurn {
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	r := session.RecordedTurn{ID: domain.NewID(), State: state, StartedAt: at(from)}
	if state != session.TurnRunning {
		r.EndedAt = new(at(to))
	}
	return r
}

func (w *world) wantRecorded(s session.Session, want int, turns ...session.RecordedTurn) {
	w.t.Helper()
	if got, err := w.sessions.RecordTurns(w.t.Context(), s.TaskID, s.ID, turns); err != nil || got != want {
		w.t.Errorf("%d turns changed, %v, want %d", got, err, want)
	}
}

// turnsOf are the turns of a session as they were recorded.
func (w *world) turnsOf(s session.Session) (turns []session.RecordedTurn) {
	w.t.Helper()
	page, err := w.sessions.Turns(w.t.Context(), s.ID, domain.PageRequest{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, t := range page.Items {
		turns = append(turns, session.RecordedTurn{ID: t.ID, State: t.State, StartedAt: t.StartedAt, EndedAt: t.EndedAt})
	}
	return turns
}

func recordedTurns(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	turns := []session.RecordedTurn{
		recorded(session.TurnCompleted, 1, 2), recorded(session.TurnFailed, 3, 4), recorded(session.TurnRunning, 5, 0),
	}
	if _, err := w.sessions.Update(t.Context(), made.TaskID, made.ID, session.Patch{State: new(session.StateCompleted)}); err != nil {
		t.Fatal(err)
	}
	w.wantRecorded(made, 3, turns...)
	w.wantState(made.ID, session.StateCompleted)
	if diff := cmp.Diff(turns, w.turnsOf(made)); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if told := w.notices.take(); len(told) == 0 || !told[len(told)-1].Change.Task {
		t.Errorf("told of %+v", told)
	}
	w.wantRecorded(made, 0, turns...)
	w.wantRecorded(made, 0)
	if told := w.notices.take(); len(told) > 0 {
		t.Errorf("told of %+v", told)
	}
	_, created, err := w.sessions.StartTurn(t.Context(), made.TaskID, made.ID, turns[0].ID)
	if created || err != nil {
		t.Errorf("start of a recorded turn: created %t, %v", created, err)
	}
}

func recordedTurnGoesOn(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	turn := recorded(session.TurnRunning, 1, 0)
	w.wantRecorded(made, 1, turn)
	w.wantRecorded(made, 0, turn)
	ended := recorded(session.TurnCompleted, 1, 3)
	ended.ID = turn.ID
	w.wantRecorded(made, 1, ended)
	earlier := recorded(session.TurnFailed, 1, 2)
	earlier.ID = turn.ID
	w.wantRecorded(made, 0, earlier)
	w.wantRecorded(made, 0, turn)
	later := recorded(session.TurnCancelled, 1, 4)
	later.ID = turn.ID
	w.wantRecorded(made, 1, later)
	if diff := cmp.Diff([]session.RecordedTurn{later}, w.turnsOf(made)); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

func recordedTurnConflicts(t *testing.T, w *world) {
	made, other := w.session(w.task().ID, session.KindMain, nil), w.session(w.task().ID, session.KindMain, nil)
	turn := recorded(session.TurnCompleted, 1, 2)
	w.wantRecorded(made, 1, turn)
	_, err := w.sessions.RecordTurns(t.Context(), other.TaskID, other.ID, []session.RecordedTurn{recorded(session.TurnCompleted, 1, 2), turn})
	wantErr(t, err, session.ErrTurnConflict)
	if turns := w.turnsOf(other); len(turns) > 0 {
		t.Errorf("turns of a refused record: %+v", turns)
	}
	_, err = w.sessions.RecordTurns(t.Context(), other.TaskID, made.ID, []session.RecordedTurn{turn})
	wantErr(t, err, session.ErrNotFound)
}

func recordedTurnsValidate(t *testing.T, w *world) {
	made := w.session(w.task().ID, session.KindMain, nil)
	running, ended := recorded(session.TurnRunning, 1, 0), recorded(session.TurnCompleted, 1, 2)
	running.EndedAt, ended.EndedAt, ended.ID = ended.EndedAt, nil, running.ID
	_, err := w.sessions.RecordTurns(t.Context(), made.TaskID, made.ID, []session.RecordedTurn{running, ended})
	want := "validation_failed: /body/turns/0/ended_at contradictory, /body/turns/1/ended_at contradictory, /body/turns/1/id duplicate"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
