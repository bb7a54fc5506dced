package claudecode

import (
	"context"
	"iter"
	"time"

	"gatehouse/domain"
)

// thread is the second pass over one conversation.
type thread struct {
	*reader

	index   *index
	session string
	child   *child // nil for the main thread
	run     int    // of child: the one that is told
	linked  map[string]*child

	turn     Turn      // the last one that began; its id is empty before the first
	clock    time.Time // of the last line that tells
	before   time.Time // of the one before it
	finished bool      // whether the run has ended: nothing will be added
	apiError bool      // whether the last answer was an error of the model's interface
	open     bool      // whether the last message waits for answers
}

// tell tells the sink the lines of the thread. f is the file they are in, whose
// bytes are counted; nil counts none.
func (t *thread) tell(ctx context.Context, records iter.Seq2[*record, error], f *file) error {
	var done int64
	at, prompted := 0, false // the run that the lines belong to
	for rec, err := range records {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if f != nil && rec.at.file == f {
			t.progress(rec.at.off + int64(rec.at.size) - done)
			done = rec.at.off + int64(rec.at.size)
		}
		if t.child == nil && rec.IsSidechain {
			continue
		}
		if t.child != nil && rec.prompts() {
			if prompted && t.child.begins(at+1, rec) {
				at++
			}
			prompted = true
		}
		if at != t.run {
			continue
		}
		if err := t.line(ctx, rec); err != nil {
			return err
		}
	}
	if f != nil {
		t.progress(f.size - done)
	}
	return nil
}

// prompts reports whether r is a prompt.
func (r *record) prompts() bool { return r.Type == typeUser && r.speaks() && r.says() == saysPrompt }

// begins reports whether r is the prompt of run k.
func (ch *child) begins(k int, r *record) bool {
	return k < len(ch.runs) && digestOf(plainText(r.content())) == ch.runs[k].prompt
}

// line tells one line.
func (t *thread) line(ctx context.Context, r *record) error {
	t.before = t.clock
	if at := r.time(); !at.IsZero() {
		t.clock = at
	}
	switch {
	case r.Type == "system" && r.Subtype == "local_command":
		return t.notice(ctx, r, plainText(blocksOf(r.Content)), saysOutput)
	case !r.speaks():
		return nil
	case r.Type == typeAssistant:
		return t.assistant(ctx, r)
	}
	switch says := r.says(); says {
	case saysNothing:
		return nil
	case saysResult:
		return t.answers(ctx, r)
	case saysPrompt:
		return t.prompt(ctx, r)
	case saysInterrupt:
		if err := t.notice(ctx, r, plainText(r.content()), says); err != nil {
			return err
		}
		return t.endTurn(ctx, StateCancelled, t.clock)
	default:
		return t.notice(ctx, r, plainText(r.content()), says)
	}
}

// beginTurn ends the turn before and begins the one of a prompt.
func (t *thread) beginTurn(ctx context.Context, r *record) error {
	if err := t.endTurn(ctx, StateCompleted, t.before); err != nil {
		return err
	}
	t.turn = Turn{domain.DeriveID(t.session, "turn", r.name()), t.session, StateRunning, t.clock}
	t.apiError, t.open = false, false
	return t.sink.Turn(ctx, t.turn)
}

// endTurn ends the turn, unless it has ended. What stopped at an error of the
// model's interface has failed.
func (t *thread) endTurn(ctx context.Context, state State, at time.Time) error {
	if t.turn.State != StateRunning || state == StateRunning {
		return nil
	}
	if state == StateCompleted && t.apiError {
		state = StateFailed
	}
	t.turn.State, t.turn.At = state, at
	return t.sink.Turn(ctx, t.turn)
}

// endOfFile ends the last turn of a main thread, unless it waits for answers.
func (t *thread) endOfFile(ctx context.Context) error {
	if t.open {
		return nil
	}
	return t.endTurn(ctx, StateCompleted, t.clock)
}
