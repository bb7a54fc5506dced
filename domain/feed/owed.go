package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/domain/plan"
	"gatehouse/domain/session"
)

// owed is what a follower who stands at a number is owed, with its stamps from one state
// of the database, encoded (EV-1).
func (s *Service) owed(ctx context.Context, taskID string, since int64) (b Batch, err error) {
	err = s.Store.InRead(ctx, func(ctx context.Context, tx ReadTx) error {
		b = Batch{}
		o := owing{tx: tx, taskID: taskID, capacity: s.Capacity}
		if err := o.collect(ctx, since); err != nil {
			return err
		}
		b = Batch{Events: inOrder(o.events), Seq: o.seq}
		return nil
	})
	if err != nil {
		return Batch{}, fmt.Errorf("read events of task %s: %w", taskID, err)
	}
	b.ready = Event{Seq: b.Seq, Payload: Ready{taskID}}
	if err := s.encode(&b.ready); err != nil {
		return Batch{}, err
	}
	for i := range b.Events {
		if err := s.encode(&b.Events[i]); err != nil {
			return Batch{}, err
		}
	}
	return b, nil
}

// encode makes the data of an event. It runs where events are read and not in every
// stream, whose stack would be twice as large for it.
func (s *Service) encode(e *Event) (err error) {
	if e.Data, err = s.Encode(e.Payload); err != nil {
		return fmt.Errorf("encode %s: %w", e.Name(), err)
	}
	return nil
}

// inOrder sorts events by their stamps and marks the last one of each.
func inOrder(events []Event) []Event {
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := range events {
		events[i].Last = i == len(events)-1 || events[i+1].Seq != events[i].Seq
	}
	return events
}

// owing collects the topics of a task that were stamped after a number.
type owing struct {
	tx       ReadTx
	taskID   string
	capacity int64

	seq    int64 // the task's number
	after  int64
	events []Event
}

// owe adds an event, if it was stamped after the number.
func (o *owing) owe(seq int64, p Payload) {
	o.events = append(o.events, Event{Seq: seq, Payload: p})
}

// collect collects what was stamped after since. One that is greater than the task's
// number, as after a restore of the database, owes everything.
func (o *owing) collect(ctx context.Context, since int64) error {
	t, err := o.tx.Task(ctx, o.taskID)
	if err != nil {
		return err
	}
	o.seq, o.after = t.ChangeSeq, since
	if since > t.ChangeSeq {
		o.after = everything
	}
	if o.after == t.ChangeSeq {
		return nil
	}
	var sessions []session.Session
	if t.TaskSeq > o.after {
		if sessions, err = o.tx.TaskSessions(ctx, o.taskID); err == nil {
			o.owe(t.TaskSeq, Task{t, sessions})
		}
	} else {
		sessions, err = o.tx.SessionsAfter(ctx, o.taskID, o.after)
	}
	if err != nil {
		return err
	}
	for _, collect := range []func() error{
		func() error { return o.plan(ctx, t.PlanSeq) },
		func() error { return o.comments(ctx, t.CommentsSeq) },
		func() error { return o.queues(ctx, sessions) },
		func() error { o.messages(sessions); return nil },
		func() error { return o.interrupts(ctx, sessions) },
		func() error { return o.executions(ctx, t.TaskSeq, sessions) },
	} {
		if err := collect(); err != nil {
			return err
		}
	}
	return nil
}

func (o *owing) plan(ctx context.Context, seq int64) error {
	if seq <= o.after {
		return nil
	}
	id, version, err := o.tx.PlanVersion(ctx, o.taskID)
	if err != nil && !errors.Is(err, plan.ErrNotFound) {
		return err
	}
	o.owe(seq, Plan{o.taskID, id, version})
	return nil
}

func (o *owing) comments(ctx context.Context, seq int64) error {
	if seq <= o.after {
		return nil
	}
	snapshot, err := o.tx.CommentsSnapshot(ctx, o.taskID)
	if errors.Is(err, plan.ErrNotFound) {
		snapshot, err = plan.Snapshot{TaskID: o.taskID}, nil
	}
	if err != nil {
		return err
	}
	o.owe(seq, Comments{snapshot})
	return nil
}

func (o *owing) queues(ctx context.Context, sessions []session.Session) error {
	changed := stamped(sessions, o.after, func(s session.Session) int64 { return s.QueueSeq })
	if len(changed) == 0 {
		return nil
	}
	entries, err := o.tx.QueueEntries(ctx, idsOf(changed))
	if err != nil {
		return err
	}
	of := map[string][]Entry{}
	for _, e := range entries {
		of[e.SessionID] = append(of[e.SessionID], e)
	}
	for _, s := range changed {
		o.owe(s.QueueSeq, Queue{
			TaskID: o.taskID, SessionID: s.ID, Revision: s.QueueRevision,
			Capacity: o.capacity, AutoRun: s.AutoRun, Entries: of[s.ID],
		})
	}
	return nil
}

func (o *owing) messages(sessions []session.Session) {
	for _, s := range stamped(sessions, o.after, func(s session.Session) int64 { return s.MessagesSeq }) {
		o.owe(s.MessagesSeq, Messages{o.taskID, s.ID, s.LastMessageSeq})
	}
}

// interrupts owes nothing of a session that was never interrupted.
func (o *owing) interrupts(ctx context.Context, sessions []session.Session) error {
	asked := stamped(sessions, max(o.after, 0), func(s session.Session) int64 { return s.InterruptSeq })
	if len(asked) == 0 {
		return nil
	}
	turns, err := o.tx.InterruptedTurns(ctx, idsOf(asked))
	if err != nil {
		return err
	}
	seqs := map[string]int64{}
	for _, s := range asked {
		seqs[s.ID] = s.InterruptSeq
	}
	for _, t := range turns {
		o.owe(seqs[t.SessionID], Interrupt{o.taskID, t.SessionID, t.ID})
	}
	return nil
}

// executions owes those that run to who knows nothing. The end of a session, which stamps
// the task, may have ended some that it delegated, and takes its own stamps along.
func (o *owing) executions(ctx context.Context, taskSeq int64, sessions []session.Session) error {
	read := o.tx.ExecutionsAfter
	changed := stamped(sessions, o.after, func(s session.Session) int64 { return s.ExecutionsSeq })
	switch {
	case o.after == everything:
		read = func(ctx context.Context, taskID string, _ int64) ([]Execution, error) {
			return o.tx.RunningExecutionsOf(ctx, taskID)
		}
	case taskSeq <= o.after && len(changed) == 0:
		return nil
	}
	found, err := read(ctx, o.taskID, o.after)
	if err != nil {
		return err
	}
	for _, e := range found {
		o.owe(e.Seq, e)
	}
	return nil
}

// stamped are the sessions with a topic that was stamped after a number.
func stamped(sessions []session.Session, after int64, seq func(session.Session) int64) []session.Session {
	return slices.DeleteFunc(slices.Clone(sessions), func(s session.Session) bool { return seq(s) <= after })
}

func idsOf(sessions []session.Session) []string {
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		ids[i] = s.ID
	}
	return ids
}
