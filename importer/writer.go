package importer

import (
	"context"
	"errors"
	"slices"
	"time"

	"gatehouse/domain"
	"gatehouse/domain/history"
	"gatehouse/domain/session"
	"gatehouse/domain/task"
	"gatehouse/importer/claudecode"
)

// writer does with the database what the jobs of one transcript say. Its methods are
// called one after the other.
type writer struct {
	Services

	workspaceID string
	task        claudecode.Task
	sessions    map[string]*known
	invocations invocations
	added       Added
	refused     []claudecode.Problem // messages and runs
}

// known is a session that the transcript told of.
type known struct {
	child bool
	state session.State // as it was before
	files int           // that it was read from and that gave nothing new yet
	grew  bool

	last int64 // seq of its last message, as it was before

	over   bool   // whether the run that is told had ended before
	behind string // then: the message that stood first behind its end
	late   bool   // whether the run tells something that is not in it yet
	lost   bool   // whether the run was refused

	gone claudecode.Reason // why the domain refused the session, if it did
}

// grew notes that something of a session was new.
func (w *writer) grew(sessionID string) {
	s := w.sessions[sessionID]
	s.grew = true
	w.added.Files += s.files
	s.files = 0
}

// session makes a session at a time, unless it is there, and with a main one the
// task. It was read from some files of its own. Of a child that the domain refuses,
// as one that somebody deleted, nothing goes in; the others do.
func (w *writer) session(ctx context.Context, s claudecode.Session, at time.Time, files int) error {
	w.Clock.set(at)
	told := &known{child: s.Kind == claudecode.KindSubagent, files: files}
	w.sessions[s.ID] = told
	err := w.makeSession(ctx, s, told)
	if reason, refused := refusal(err); refused && told.child {
		told.gone = reason
		return nil
	}
	return err
}

func (w *writer) makeSession(ctx context.Context, s claudecode.Session, told *known) error {
	stored, err := w.Sessions.Get(ctx, s.ID)
	switch {
	case err == nil && stored.TaskID != w.task.ID:
		return w.elsewhere(ctx, stored)
	case err != nil && !errors.Is(err, session.ErrNotFound):
		return err
	}
	missing := err != nil
	if !told.child {
		if err := w.makeTask(ctx); err != nil {
			return err
		}
	}
	told.last = stored.LastMessageSeq
	if told.state = stored.State; !missing {
		return w.learn(ctx, stored, s)
	}
	n := newSession(s)
	n.TaskID = w.task.ID
	made, created, err := w.Sessions.Create(ctx, n)
	if err != nil {
		return err
	}
	if told.state = made.State; created {
		w.grew(s.ID)
		w.added.Sessions++
		if told.child {
			w.added.Subagents++
		}
	}
	return nil
}

// learn takes over what a session that is there was not told before: its file was cut
// in front of that. The rest may have been changed since by a person.
func (w *writer) learn(ctx context.Context, stored session.Session, s claudecode.Session) error {
	n, patch := newSession(s), session.Patch{}
	if stored.WorkspacePath == nil {
		patch.WorkspacePath = n.WorkspacePath
	}
	if s.Kind == claudecode.KindMain && slices.Contains(w.task.Formerly, stored.Title) {
		patch.Title = &n.Title
	}
	if patch == (session.Patch{}) {
		return nil
	}
	_, err := w.Sessions.Update(ctx, w.task.ID, s.ID, patch)
	return err
}

// elsewhere says where a session is that should be in the task of the transcript.
func (w *writer) elsewhere(ctx context.Context, s session.Session) error {
	t, err := w.Tasks.Get(ctx, s.TaskID)
	switch {
	case err != nil:
		return err
	case t.WorkspaceID != w.workspaceID:
		return ErrOtherWorkspace
	}
	return ErrOtherTask
}

// makeTask makes the task of the transcript, unless it is there. A title that less of
// the transcript gave it grows along; a person's stays.
func (w *writer) makeTask(ctx context.Context) error {
	t, err := w.Tasks.Get(ctx, w.task.ID)
	switch {
	case err == nil && t.WorkspaceID != w.workspaceID:
		return ErrOtherWorkspace
	case err == nil && slices.Contains(w.task.Formerly, t.Title):
		_, err := w.Tasks.Update(ctx, t.ID, task.Patch{Title: &w.task.Title})
		if errors.Is(err, task.ErrArchived) { // its title stays
			return nil
		}
		return err
	case err == nil || !errors.Is(err, task.ErrNotFound):
		return err
	}
	_, created, err := w.Tasks.Create(ctx, task.New{ID: w.task.ID, WorkspaceID: w.workspaceID, Title: w.task.Title})
	if created {
		w.added.Tasks++
	}
	return err
}

// settle leaves a session where the transcript left it. A main session that gave
// nothing new is left alone: somebody may be working with it.
func (w *writer) settle(ctx context.Context, s claudecode.SessionState, at time.Time) error {
	w.record(ctx, w.invocations.left(s.ID))
	of := w.sessions[s.ID]
	if of.gone != "" || of.state.Terminal() || !of.grew && !of.child && of.state != session.StateCreated {
		return nil
	}
	w.Clock.set(at)
	_, err := w.Sessions.Update(ctx, w.task.ID, s.ID, session.Patch{State: new(session.State(s.State))})
	if errors.Is(err, session.ErrUnavailable) { // another import, which found more, ended it meanwhile
		return nil
	}
	return err
}

// write writes the turns and messages of a batch.
func (w *writer) write(ctx context.Context, b batch) error {
	of := w.sessions[b.sessionID]
	if of.gone != "" {
		return nil
	}
	if len(b.turns) > 0 {
		changed, err := w.Sessions.RecordTurns(ctx, w.task.ID, b.sessionID, b.turns)
		if err != nil {
			return err
		}
		if changed > 0 {
			w.grew(b.sessionID)
		}
	}
	if len(b.messages) == 0 {
		return nil
	}
	of.late = of.late || of.behind != "" && slices.ContainsFunc(b.messages, func(m history.NewMessage) bool { return m.ID == of.behind })
	return w.writeMessages(ctx, b.sessionID, b.messages, b.places)
}

// refuse notes that what begins at a place does not go in.
func (w *writer) refuse(at claudecode.Place, reason claudecode.Reason) {
	w.refused = append(w.refused, claudecode.Problem{File: at.File, Line: at.Line, Reason: reason})
}

// writeMessages writes messages. Those that the domain refuses are found by halves,
// named by their places and left out.
func (w *writer) writeMessages(ctx context.Context, sessionID string, messages []history.NewMessage, places []claudecode.Place) error {
	done, err := w.History.Complete(ctx, w.task.ID, sessionID, messages)
	if err == nil {
		w.added.Messages += done.Messages
		w.added.FileChanges += done.FileChanges
		if done.Messages+done.Grown > 0 {
			w.grew(sessionID)
		}
		if done.Messages > 0 {
			w.sessions[sessionID].late = true
		}
		return nil
	}
	if !errors.Is(err, session.ErrMessageConflict) && !errors.Is(err, domain.ErrValidation) {
		return err
	}
	if len(messages) == 1 {
		reason, _ := refusal(err)
		w.refuse(places[0], reason)
		return nil
	}
	half := len(messages) / 2
	if err := w.writeMessages(ctx, sessionID, messages[:half], places[:half]); err != nil {
		return err
	}
	return w.writeMessages(ctx, sessionID, messages[half:], places[half:])
}
