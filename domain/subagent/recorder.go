package subagent

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"gatehouse/domain"
)

// FrameOutcome says what became of an observed frame (SC-40).
type FrameOutcome string

// The outcomes. Of the attempted frames each was skipped, persisted or failed; the
// other two tell more of one that was not skipped.
const (
	FrameAttempted         FrameOutcome = "attempted"
	FramePersisted         FrameOutcome = "persisted"
	FrameSkippedNoIdentity FrameOutcome = "skipped_no_identity"
	FrameAnomalousValue    FrameOutcome = "anomalous_value"
	FrameFailed            FrameOutcome = "failed"
	FrameUnknownExecution  FrameOutcome = "unknown_execution"
)

// FrameOutcomes lists every outcome.
var FrameOutcomes = []FrameOutcome{
	FrameAttempted, FramePersisted, FrameSkippedNoIdentity, FrameAnomalousValue, FrameFailed, FrameUnknownExecution,
}

// FrameObserver counts frames. It returns at once and never fails.
type FrameObserver interface {
	// Observed is told of so many frames, more than none, that came to an outcome.
	Observed(outcome FrameOutcome, frames int)
}

// ContextStore keeps contexts. Package storetest holds what every store must do.
type ContextStore interface {
	// MergeContexts merges contexts, in their order, into the rows of their keys, all
	// or none. Each is one statement that inserts or updates (SC-3):
	//
	//   - turn and settled_at stay once they are known
	//   - tool_status stays once it is one of [session.SettledToolStatuses]
	//   - is_async stays once it is set
	//   - id, task, source and observed_at are those of the first
	//   - everything else is replaced by what is not nil (SC-4, SC-5)
	MergeContexts(ctx context.Context, contexts []Context) error
}

// recordWithin bounds how long a batch of frames may hold up its sender (SC-14).
const recordWithin = 2 * time.Second

// Recorder leaves contexts of frames. It can break nothing: it runs behind the
// transaction of the messages, in a time that is bounded, and its failures are
// counted and logged here (SC-14).
type Recorder struct {
	store    ContextStore
	now      domain.Clock
	log      *slog.Logger
	observer FrameObserver
}

// NewRecorder returns a Recorder on store.
func NewRecorder(store ContextStore, now domain.Clock, log *slog.Logger, observer FrameObserver) *Recorder {
	return &Recorder{store, now, log, observer}
}

// Record merges what frames say into the contexts of their keys, those of one key in
// the order of the frames. The caller may be gone: nothing of its cancellation is
// taken along. It takes no lock of the task.
func (r *Recorder) Record(ctx context.Context, frames []Frame) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	contexts, counts := r.contexts(frames)
	if err := r.merge(ctx, contexts); err != nil {
		counts[FrameFailed] = len(contexts)
		for _, c := range contexts {
			r.log.WarnContext(ctx, "subagent context not recorded",
				"session_id", c.TaskSessionID, "tool_call_id", c.ToolCallID, "error", err)
		}
	} else {
		counts[FramePersisted] = len(contexts)
	}
	for _, outcome := range FrameOutcomes {
		if counts[outcome] > 0 {
			r.observer.Observed(outcome, counts[outcome])
		}
	}
}

// contexts are what frames have to say, in the order in which to merge it, and what
// can be counted before that.
func (r *Recorder) contexts(frames []Frame) (contexts []Context, counts map[FrameOutcome]int) {
	counts = make(map[FrameOutcome]int)
	counts[FrameAttempted] = len(frames)
	for _, f := range frames {
		if !f.identified() {
			counts[FrameSkippedNoIdentity]++
			continue
		}
		c, odd := f.context(r.now())
		contexts = append(contexts, c)
		if odd.anomalous {
			counts[FrameAnomalousValue]++
		}
		if odd.unknownExecution {
			counts[FrameUnknownExecution]++
		}
	}
	slices.SortStableFunc(contexts, byKey)
	return contexts, counts
}

// merge is the store's work, of which a panic is one more failure.
func (r *Recorder) merge(ctx context.Context, contexts []Context) (err error) {
	if len(contexts) == 0 {
		return nil
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("panic of type %T", thrown) // its text may be anything
		}
	}()
	return r.store.MergeContexts(ctx, contexts)
}
