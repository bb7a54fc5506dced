package subagent

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"gatehouse/domain"
)

// RecordOutcome says what became of the report of an observed frame (SC-40).
type RecordOutcome string

// The outcomes. Of the attempted frames each was skipped, persisted or failed; the
// other two tell more of one that was not skipped.
const (
	RecordAttempted         RecordOutcome = "attempted"
	RecordPersisted         RecordOutcome = "persisted"
	RecordSkippedNoIdentity RecordOutcome = "skipped_no_identity"
	RecordAnomalousValue    RecordOutcome = "anomalous_value"
	RecordFailed            RecordOutcome = "failed"
	RecordUnknownExecution  RecordOutcome = "unknown_execution"
)

// RecordOutcomes lists every outcome.
var RecordOutcomes = []RecordOutcome{
	RecordAttempted, RecordPersisted, RecordSkippedNoIdentity, RecordAnomalousValue, RecordFailed, RecordUnknownExecution,
}

// RecordObserver counts frames. It returns at once and never fails.
type RecordObserver interface {
	// Observed is told of so many frames, more than none, that came to an outcome.
	Observed(outcome RecordOutcome, frames int)
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

// Recorder leaves contexts of what frames report. It can break nothing: it runs behind the
// transaction of the messages, in a time that is bounded, and its failures are
// counted and logged here (SC-14).
type Recorder struct {
	store    ContextStore
	now      domain.Clock
	log      *slog.Logger
	observer RecordObserver
}

// NewRecorder returns a Recorder on store.
func NewRecorder(store ContextStore, now domain.Clock, log *slog.Logger, observer RecordObserver) *Recorder {
	return &Recorder{store, now, log, observer}
}

// Record merges what frames say into the contexts of their keys, those of one key in
// the order of the frames. The caller may be gone: nothing of its cancellation is
// taken along. It takes no lock of the task.
func (r *Recorder) Record(ctx context.Context, reports []Report) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	contexts, counts := r.contexts(reports)
	if err := r.merge(ctx, contexts); err != nil {
		counts[RecordFailed] = len(contexts)
		for _, c := range contexts {
			r.log.WarnContext(ctx, "subagent context not recorded",
				"session_id", c.TaskSessionID, "tool_call_id", c.ToolCallID, "error", err)
		}
	} else {
		counts[RecordPersisted] = len(contexts)
	}
	for _, outcome := range RecordOutcomes {
		if counts[outcome] > 0 {
			r.observer.Observed(outcome, counts[outcome])
		}
	}
}

// contexts are what reports have to say, in the order in which to merge it, and what
// can be counted before that.
func (r *Recorder) contexts(reports []Report) (contexts []Context, counts map[RecordOutcome]int) {
	counts = make(map[RecordOutcome]int)
	counts[RecordAttempted] = len(reports)
	for _, report := range reports {
		if !report.identified() {
			counts[RecordSkippedNoIdentity]++
			continue
		}
		c, odd := report.context(r.now())
		contexts = append(contexts, c)
		if odd.anomalous {
			counts[RecordAnomalousValue]++
		}
		if odd.unknownExecution {
			counts[RecordUnknownExecution]++
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
