package history

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"gatehouse/domain/session"
	"gatehouse/domain/subagent"
)

// frameFold merges a batch of frames into the messages of a session. It is made anew
// for every run of the transaction.
type frameFold struct {
	session session.Session
	now     time.Time
	lastSeq int64
	calls   map[string]*toolCall // by the id of the message
	touched []*toolCall          // that heard something, in the order of the frames
	turns   map[string]bool      // that the session has

	// reports are what the frames that were taken tell of subagents (SC-1).
	reports []subagent.Report
}

func newFrameFold(locked session.Session, now time.Time) *frameFold {
	return &frameFold{
		session: locked, now: now, lastSeq: locked.LastMessageSeq,
		calls: map[string]*toolCall{}, turns: map[string]bool{},
	}
}

// meet takes over what is stored.
func (f *frameFold) meet(scene FrameScene) error {
	for _, m := range scene.Messages {
		call, err := readToolCall(m)
		if err != nil {
			return err
		}
		f.calls[m.ID] = call
	}
	for _, id := range scene.Turns {
		f.turns[id] = true
	}
	return nil
}

// all merges every frame, in order, and says what became of it.
func (f *frameFold) all(told []toldFrame) []FrameResult {
	results := make([]FrameResult, len(told))
	for i, frame := range told {
		results[i] = f.one(frame)
		payload, ok := subagent.PayloadOf(frame.Normalized)
		if ok && results[i].Outcome != FrameRejected {
			f.reports = append(f.reports, f.report(frame, payload))
		}
	}
	return results
}

// report is what a frame says of an invocation by itself.
func (f *frameFold) report(frame toldFrame, payload subagent.Payload) subagent.Report {
	return subagent.Report{
		TaskSessionID: f.session.ID, TaskID: f.session.TaskID, TurnID: frame.TurnID, ExecutionID: frame.ExecutionID,
		ToolCallID: frame.ToolCallID, ParentToolCallID: frame.ParentToolCallID, ToolStatus: frame.Status,
		ObservedAt: frame.observedAt, Payload: payload,
	}
}

// merge merges a frame into its call. One that says by itself of no invocation may
// complete what the message says of one, of which it was told kind and payload in two
// frames: with all that was told, that is a context that the message owes (SC-41).
func (f *frameFold) merge(call *toolCall, frame toldFrame) (changed bool) {
	_, before := subagent.PayloadOf(call.normalized.known)
	changed = call.merge(frame.Frame)
	_, itself := subagent.PayloadOf(frame.Normalized)
	if payload, told := subagent.PayloadOf(call.normalized.known); told && !before && !itself {
		whole := f.report(frame, payload)
		whole.TurnID, whole.ParentToolCallID, whole.ToolStatus = value(call.message.TurnID), call.text(memberParent), call.status
		f.reports = append(f.reports, whole)
	}
	return changed
}

// one merges a frame. What was told before comes first: it changes nothing, whatever
// would be said of it today (HI-9).
func (f *frameFold) one(frame toldFrame) FrameResult {
	if frame.wrong != "" {
		return FrameResult{Outcome: FrameRejected, Reason: frame.wrong}
	}
	call := f.calls[frame.messageID]
	switch {
	case call != nil && !f.owns(call.message, frame):
		return FrameResult{Outcome: FrameRejected, Reason: FrameMessageConflict}
	case call != nil && call.heard(frame.Frame):
		return call.result(FrameUnchanged, "")
	case frame.TurnID != "" && !f.turns[frame.TurnID]:
		return FrameResult{Outcome: FrameRejected, Reason: FrameTurnNotFound}
	case call != nil && call.message.DeletedAt != nil:
		return call.result(FrameUnchanged, FrameRolledBack) // recorded as a context all the same
	case call != nil && !call.normalized.holds(frame.Normalized):
		return FrameResult{Outcome: FrameRejected, Reason: FrameTooLarge}
	}
	outcome := FrameUnchanged
	if call == nil {
		call, outcome = f.open(frame), FrameCreated
	} else if !call.touched {
		f.touched = append(f.touched, call)
	}
	call.touched = true
	if f.merge(call, frame) && outcome == FrameUnchanged {
		outcome = FrameUpdated
	}
	return call.result(outcome, "")
}

// owns reports whether a message is that of a frame's call. The id of a message that
// a caller made can be any.
func (f *frameFold) owns(m session.Message, frame toldFrame) bool {
	return m.SessionID == f.session.ID && m.Type == session.TypeToolCall && value(m.ToolCallID) == frame.ToolCallID
}

// open makes the message of a frame's call, at the end of the transcript, the way
// every message is made. Its time is that at which the frame was observed (SC-41).
func (f *frameFold) open(frame toldFrame) *toolCall {
	f.lastSeq++
	made := NewMessage{
		ID: frame.messageID, Role: session.RoleTool, Type: session.TypeToolCall, CreatedAt: &frame.observedAt,
	}
	if frame.ToolCallID != "" {
		made.ToolCallID = &frame.ToolCallID
	}
	m := made.bare(f.session.ID, f.now)
	m.TaskID, m.Seq = f.session.TaskID, f.lastSeq
	call := &toolCall{message: m, metadata: map[string]json.RawMessage{}, isNew: true}
	f.calls[m.ID] = call
	f.touched = append(f.touched, call)
	return call
}

// addition is what the batch writes, and whether that is a change to anybody.
func (f *frameFold) addition() (a addition, changed bool) {
	for _, call := range f.touched {
		changed = changed || call.isNew || call.changes > 0
		m := call.done(f.now)
		if call.isNew {
			a.messages = append(a.messages, m)
		} else {
			a.revised = append(a.revised, m)
		}
		if d, ok := call.delegation(); ok {
			a.delegations = append(a.delegations, d)
		}
	}
	slices.SortFunc(a.delegations, func(x, y subagent.Delegation) int { return cmp.Compare(x.MessageSeq, y.MessageSeq) })
	return a, changed
}
