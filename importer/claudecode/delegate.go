package claudecode

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"gatehouse/domain"
)

// delegate tells the run of a subagent that a call of the message led to: that it
// started, its messages, and that it ended, if it did.
func (t *thread) delegate(ctx context.Context, c *call, message string) error {
	if c.delegated == nil || t.linked[c.id] == nil {
		return nil
	}
	ch := t.linked[c.id]
	k := ch.run(c.id)
	f, closeFile := t.openChild(ch, k)
	err := t.tellRun(ctx, ch, k, message, f)
	return errors.Join(err, closeFile())
}

// openChild opens the file of ch; nil when it has none that can be read or the one
// beside the session belongs to another session.
func (t *thread) openChild(ch *child, k int) (*file, func() error) {
	none := func() error { return nil }
	if ch.path == "" {
		return nil, none
	}
	f, closeFile, err := t.reader.open(ch.path)
	if err != nil {
		t.summary.Report(ch.path, 0, ReasonUnreadable)
		ch.path = ""
		return nil, none
	}
	if k == 0 && !ch.own && !t.belongs(f) {
		ch.path = ""
		return nil, closeFile
	}
	return f, closeFile
}

// belongs reports whether f names the session of the reader in its first line.
func (t *thread) belongs(f *file) bool {
	for rec, err := range f.records(t.limit, silence) {
		return err == nil && rec.SessionID == t.transcript
	}
	return false
}

func (t *thread) tellRun(ctx context.Context, ch *child, k int, message string, f *file) error {
	report, counted := silence, (*file)(nil)
	if k == 0 && f != nil {
		report, counted = t.reporter(f), f
		t.summary.Files++
	}
	if !ch.own {
		counted = nil
	}
	x, err := t.indexChild(ch, f, report)
	if err != nil {
		return err
	}
	c := ch.runs[k]
	status, metrics, at, ended := t.ended(ch, k)
	if k == 0 {
		if err := t.sink.Session(ctx, t.childSession(ch, x)); err != nil {
			return err
		}
	}
	id := domain.DeriveID(ch.session, "execution", c.id)
	err = t.sink.ExecutionStart(ctx, ExecutionStart{
		ID: id, ParentSessionID: t.session, ParentMessageID: message, ParentTurnID: t.turn.ID, ParentToolCall: c.id,
		ChildSessionID: ch.session, AgentID: ch.agent, AgentType: cmp.Or(ch.meta.AgentType, c.agentType),
		Description: c.description, Tool: c.name, Place: c.at.place(), Async: c.async, At: t.clock,
	})
	if err != nil {
		return err
	}
	sub := &thread{
		reader: t.reader, index: x, session: ch.session, child: ch, run: k, linked: t.link(x, ch.session),
		clock: t.clock, finished: ended,
	}
	if err := sub.tell(ctx, lines(ch, f, t.limit, silence), counted); err != nil {
		return err
	}
	if err := sub.endTurn(ctx, status, sub.clock); err != nil {
		return err
	}
	if ended {
		metrics.Model = cmp.Or(metrics.Model, x.facts.model)
		if at.IsZero() {
			at = sub.clock
		}
		if err := t.sink.ExecutionEnd(ctx, ExecutionEnd{id, ch.session, status, metrics, at}); err != nil {
			return err
		}
	}
	if k < len(ch.runs)-1 {
		return nil
	}
	return t.sink.SessionState(ctx, SessionState{ch.session, status})
}

func (t *thread) childSession(ch *child, x *index) Session {
	c := ch.runs[0]
	return Session{
		ID: ch.session, TaskID: t.task, Kind: KindSubagent, ParentID: t.session, AgentID: ch.agent,
		AgentType: title(cmp.Or(ch.meta.AgentType, c.agentType)), Title: title(cmp.Or(c.description, ch.meta.Description)),
		WorkspacePath: x.facts.cwd,
	}
}

// indexChild makes the first pass over a subagent's thread.
func (t *thread) indexChild(ch *child, f *file, report reporter) (*index, error) {
	x := newIndex()
	for rec, err := range lines(ch, f, t.limit, report) {
		if err != nil {
			return nil, err
		}
		if rec.at.file == f {
			judge(rec, report)
		}
		x.add(rec)
	}
	t.addEndings(x)
	return x, nil
}

// lines reads the thread of ch: its file, and what the main file has of it beyond.
func lines(ch *child, f *file, limit int, report reporter) iter.Seq2[*record, error] {
	return once(func(yield func(*record, error) bool) {
		if f != nil {
			for rec, err := range f.records(limit, report) {
				if !yield(rec, err) {
					return
				}
			}
		}
		for _, at := range ch.lines {
			if !yield(at.record()) {
				return
			}
		}
	})
}
