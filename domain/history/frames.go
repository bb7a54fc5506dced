package history

import (
	"context"
	"encoding/json"
	"fmt"

	"gatehouse/domain"
	"gatehouse/domain/event"
	"gatehouse/domain/subagent"
	"gatehouse/domain/task"
)

// FrameOutcome says what became of a frame.
type FrameOutcome string

// The outcomes.
const (
	FrameCreated   FrameOutcome = "created"   // it made the message of its call
	FrameUpdated   FrameOutcome = "updated"   // it changed that message
	FrameUnchanged FrameOutcome = "unchanged" // it says nothing new, or was told before
	FrameRejected  FrameOutcome = "rejected"  // it was not taken; the reason says why
)

// FrameResult is what became of one frame of a batch.
type FrameResult struct {
	MessageID string // of its call; "" when it was rejected
	Seq       int64  // of that message; 0 when it was rejected
	Outcome   FrameOutcome
	Reason    FrameReason // of what changed nothing, where there is one
}

type framesTx interface {
	// FrameScene reads what a batch of frames meets. The transaction holds the locks
	// of task and session.
	FrameScene(ctx context.Context, q FrameQuery) (FrameScene, error)
}

// ContextRecorder is told of the invocations of subagents that frames tell of, behind
// the commit of their messages. It cannot fail (SC-14).
type ContextRecorder interface {
	Record(ctx context.Context, reports []subagent.Report)
}

// RecordingTo returns the same operations, of whose frames r is told.
func (s *Service) RecordingTo(r ContextRecorder) *Service {
	recording := *s
	recording.contexts = r
	return &recording
}

// AppendFrames merges 1 to 500 frames, each a JSON value, into the tool-call messages
// of a session: one message per call of an execution, made by the first frame of it
// that comes. Each frame is judged by itself, and a bad one drops none of the others.
// A frame that was told before changes nothing, whatever became of the message since
// (HI-9). What frames tell of subagents is recorded after the commit.
//
// Archived tasks, ended sessions and finished executions take frames too: a record of
// an agent is not lost for being late.
func (s *Service) AppendFrames(ctx context.Context, taskID, sessionID string, batch []json.RawMessage) ([]FrameResult, error) {
	var p domain.Problems
	if len(batch) == 0 {
		p.Add("/body/frames", domain.ProblemRequired, "must hold at least one frame")
	}
	checkMany(&p, "/body/frames", len(batch), domain.MaxBatch)
	if err := p.Err(); err != nil {
		return nil, err
	}
	now := s.now()
	told := readFrames(sessionID, batch, now)
	var results []FrameResult
	var reports []subagent.Report
	err := s.mutate(ctx, taskID, func(ctx context.Context, tx WriteTx, _ task.Task) (*event.Change, error) {
		locked, err := tx.LockSession(ctx, taskID, sessionID)
		if err != nil {
			return nil, err
		}
		fold := newFrameFold(locked, now)
		if query := queryOf(sessionID, told); len(query.MessageIDs) > 0 {
			scene, err := tx.FrameScene(ctx, query)
			if err != nil {
				return nil, err
			}
			if err := fold.meet(scene); err != nil {
				return nil, err
			}
		}
		results = fold.all(told)
		reports = fold.reports
		return s.writeFrames(ctx, tx, fold)
	})
	if err != nil {
		return nil, fmt.Errorf("append frames to session %s: %w", sessionID, err)
	}
	if s.contexts != nil && len(reports) > 0 {
		s.contexts.Record(ctx, reports)
	}
	return results, nil
}

// writeFrames stores what frames came to. That a message has heard a frame which says
// nothing new is written, but no change: nobody reads it.
func (s *Service) writeFrames(ctx context.Context, tx WriteTx, fold *frameFold) (*event.Change, error) {
	a, changed := fold.addition()
	if len(a.messages)+len(a.revised) == 0 {
		return nil, nil //nolint:nilnil // nothing changed
	}
	change, err := s.write(ctx, tx, fold.session, a)
	if err != nil || !changed {
		return nil, err
	}
	return change, nil
}
