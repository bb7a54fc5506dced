package subagent

import (
	"fmt"
	"time"
)

// The keys under which a database keeps since when its contexts tell what (SC-33). Each
// is written once. They bound what is complete, never what is valid.
const (
	// KeyCaptureSince is when the backfill was done: from then on, every invocation
	// should have left a context.
	KeyCaptureSince = "subagent_context_capture_since"

	// KeyBackfillThrough is the time of the newest message that the backfill looked
	// at, or [NothingToBackfill].
	KeyBackfillThrough = "subagent_context_backfill_through"

	// KeyExecutionSince is when the schema was first seen to tell the contexts of
	// different executions apart.
	KeyExecutionSince = "subagent_context_execution_since"
)

// ActivationKeys lists them.
var ActivationKeys = []string{KeyCaptureSince, KeyBackfillThrough, KeyExecutionSince}

// NothingToBackfill stands for a time where no message was there to look at.
const NothingToBackfill = ""

// FormatKey is a time as the value of a key: RFC 3339 with nine fraction digits.
func FormatKey(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z07:00") }

// Activation is what the keys of a database say. A key that is absent is nil.
type Activation struct {
	CaptureSince    *time.Time
	BackfillThrough *time.Time // also nil with NothingBackfilled
	ExecutionSince  *time.Time

	// NothingBackfilled reports that the backfill was done and no message was there.
	NothingBackfilled bool
}

// ActivationState names which of the two times that bound completeness are there (SC-42).
type ActivationState string

// The states.
const (
	ActivationNone          ActivationState = "not_activated"  // neither: the first start failed to write both, or there was none
	ActivationCaptureOnly   ActivationState = "capture_only"   // contexts are kept, but executions may share one
	ActivationExecutionOnly ActivationState = "execution_only" // the backfill has failed so far
	ActivationComplete      ActivationState = "active"
)

// State names which times are there.
func (a Activation) State() ActivationState {
	switch {
	case a.CaptureSince != nil && a.ExecutionSince != nil:
		return ActivationComplete
	case a.CaptureSince != nil:
		return ActivationCaptureOnly
	case a.ExecutionSince != nil:
		return ActivationExecutionOnly
	}
	return ActivationNone
}

// ReadActivation reads the values of keys, which may have been written with fewer
// fraction digits than today. It fails when one of them is no time.
func ReadActivation(values map[string]string) (a Activation, err error) {
	for key, dest := range map[string]**time.Time{
		KeyCaptureSince: &a.CaptureSince, KeyBackfillThrough: &a.BackfillThrough, KeyExecutionSince: &a.ExecutionSince,
	} {
		value, ok := values[key]
		switch {
		case !ok:
			continue
		case key == KeyBackfillThrough && value == NothingToBackfill:
			a.NothingBackfilled = true
			continue
		}
		t, err := time.Parse(time.RFC3339Nano, value)
		if err != nil {
			return Activation{}, fmt.Errorf("stored key %s: %w", key, err)
		}
		*dest = new(t.UTC())
	}
	return a, nil
}

// AtOrAfter is the first time that a database can store which is not before t, the
// value of a key: stored times have microseconds, keys may be finer. A stored time is
// at or after t when it is at or after this one (SC-35).
func AtOrAfter(t time.Time) time.Time {
	stored := t.Truncate(time.Microsecond)
	if stored.Before(t) {
		stored = stored.Add(time.Microsecond)
	}
	return stored
}
